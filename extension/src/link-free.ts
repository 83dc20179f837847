// Text that VS Code shows and that may come from a server. VS Code turns parts of such text into something to click on:
// notifications and input boxes parse `[label](command:…)`, Markdown also has `<https://…>` and bare addresses, and labels
// have `$(icon)`. The hover of Manage Models even trusts commands. A word joiner (U+2060) inside such a construct makes it
// ordinary text again: nobody sees it, and an address that is copied still works, because URL parsers ignore it in a host.

const WORD_JOINER = "\u2060";

/** VS Code itself truncates notifications at this length. */
const MAX_LENGTH = 1_000;

/** A word joiner is inserted before these characters. */
const LINKS = new RegExp(
  [
    // [label](target), ![image](target)
    String.raw`(?<=\])(?=\()`,
    // [label]: target, and what else begins a block of Markdown
    String.raw`^(?=[[#>|\x60]|~~~|[*+-] |\d+[.)] )`,
    // $(icon)
    String.raw`(?<=\$)(?=\()`,
    // <https://…>, <command:…>, <someone@example.com>, <a href=…>, <!--
    "(?<=<)(?=[A-Za-z0-9/!?.+_-])",
    // https://…, and every other scheme
    String.raw`(?<=:\/\/)`,
    // www.example.com
    String.raw`(?<=www\.)(?=[A-Za-z0-9-])`,
    // someone@example.com; a version such as claude@latest stays as it is
    String.raw`(?<=@)(?=[\w-]+\.)`,
  ].join("|"),
  "gi",
);

/** Returns one line that looks the same but in which nothing can be clicked. Applying it twice changes nothing. */
export function linkFree(text: string, maxLength = MAX_LENGTH): string {
  // Text that can't be shown isn't processed, so that a server can't decide how long this takes.
  const visible = text
    .slice(0, 4 * maxLength)
    // Control characters, invisible characters, characters that reorder text, and unpaired surrogates.
    .replace(/[\p{Cf}\p{Cs}]|(?!\s)\p{Cc}/gu, "")
    .replace(/\s+/g, " ")
    .trim();
  const shown = visible.length <= maxLength ? visible : `${visible.slice(0, maxLength - 1).replace(/\p{Cs}$/u, "")}…`;
  return shown.replace(LINKS, WORD_JOINER);
}

/** The same for Markdown with several paragraphs. */
export function linkFreeLines(text: string): string {
  return text
    .slice(0, 4 * MAX_LENGTH)
    .split("\n")
    .map((line) => linkFree(line))
    .join("\n");
}
