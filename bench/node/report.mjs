// One table for each section: what was measured, its goal, and whether the goal is met. A missed goal is reported but
// isn't an error: a benchmark on a busy machine must not fail a build.

export class Table {
  #rows;

  constructor(title) {
    this.#rows = [[title, "measured", "figure", "aim", ""]];
  }

  /** A row for comparison only. */
  info(what, measured, figure) {
    this.#rows.push([what, measured, figure === undefined ? "" : figure.toFixed(2), "", ""]);
  }

  /** A row whose `figure` has a goal: `{ atMost }` or `{ atLeast }`. */
  aim(what, measured, figure, { atMost, atLeast }) {
    const met = atMost === undefined ? figure >= atLeast : figure <= atMost;
    const aim = atMost === undefined ? `>= ${atLeast}` : `<= ${atMost}`;
    this.#rows.push([what, measured, figure.toFixed(2), aim, met ? "ok" : "MISSED"]);
  }

  print() {
    const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...this.#rows.map((row) => row[column].length)));
    const pad = (cell, column) => (column === 0 || column === 4 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]));
    const lines = this.#rows.map((row) => row.map(pad).join("  ").trimEnd());
    const rule = "-".repeat(widths.reduce((sum, width) => sum + width, 8));
    console.log(["", lines[0], rule, ...lines.slice(1)].join("\n"));
  }
}
