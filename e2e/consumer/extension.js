// A second extension that uses Sluice's models as any other extension would, and records the results.
const fs = require("node:fs");
const figures = require("./figures");

const session = process.env.SLUICE_E2E_SESSION;
const cases = session
  ? require("./cases/session")[session]
  : [...require("./cases/models"), ...require("./cases/parts"), ...require("./cases/failures"), ...require("./cases/many")];

exports.activate = () => void run();

async function run() {
  // Each event is written immediately, so that a hang shows where it happened.
  const record = (line) => fs.appendFileSync(process.env.SLUICE_E2E_RESULTS, `${JSON.stringify(line)}\n`);
  // The session suite measures how soon models are listed, so the extension must not be activated before that.
  if (!session) await figures.activation();
  for (const [name, check] of cases) {
    record({ running: name });
    const started = performance.now();
    let error;
    try {
      await check();
    } catch (thrown) {
      error = thrown?.message ?? String(thrown);
    }
    record({ result: { name, ok: error === undefined, ms: performance.now() - started, error } });
  }
  record({ figures: figures.figures });
}
