// Every text for the user can be translated: it is in a bundle, and the bundles contain nothing else. `UPDATE_EXPECT=1
// npm test` rewrites the English one.

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import ts from "typescript";

import { MESSAGES } from "../../packages/loader/src/messages.js";

type Texts = { [key: string]: string };

const read = (file: string): Texts => JSON.parse(readFileSync(file, "utf8")) as Texts;
const holes = (text: string): string[] => (text.match(/\{\d+\}|`[^`]*`|\$\([a-z-]+\)|\(command:[^)]*\)/g) ?? []).sort();

/** The files of the extension and of the inspector's view that may contain texts for the user. */
const sources = ["src", "view"].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => /(?<!\.d)\.tsx?$/.test(name))
    .map((name) => ts.createSourceFile(`${folder}/${name}`, readFileSync(`${folder}/${name}`, "utf8"), ts.ScriptTarget.ES2022, true)),
);

/** Returns the core's sentences, and the first arguments of all calls of `vscode.l10n.t` except the one that shows those. */
function texts(): string[] {
  const found = new Set<string>(Object.values(MESSAGES).filter((text) => text !== MESSAGES.plain));
  for (const file of sources.filter(({ fileName }) => !["src/messages.ts", "view/l10n.ts"].includes(fileName))) {
    const visit = (node: ts.Node): void => {
      if (ts.isCallExpression(node) && /\bl10n\.t$/.test(node.expression.getText(file))) {
        const [message] = node.arguments;
        assert(message !== undefined && ts.isStringLiteralLike(message), `${file.fileName}: ${node.getText(file)} has no plain text`);
        found.add(message.text);
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return [...found].sort();
}

test("the English bundle contains exactly the texts of the source", () => {
  const used = texts();
  if (process.env["UPDATE_EXPECT"] === "1") {
    writeFileSync("l10n/bundle.l10n.json", `${JSON.stringify(Object.fromEntries(used.map((text) => [text, text])), null, 2)}\n`);
  }
  const bundled = Object.entries(read("l10n/bundle.l10n.json"));
  const has = new Set(bundled.map(([key]) => key));
  const advice = "run UPDATE_EXPECT=1 npm test";
  assert.deepEqual(
    used.filter((text) => !has.has(text)),
    [],
    `not in the bundle; ${advice}`,
  );
  assert.deepEqual(
    bundled.filter(([key, text]) => !used.includes(key) || key !== text),
    [],
    `only in the bundle; ${advice}`,
  );
});

/** Sentences outside of the bundles are for logs and for developers. */
const FOR_DEVELOPERS = /^(SignInProblem|Error)$|\blog\.\w+$|#log\.\w+$|#write$|onProblem$/;

test("no sentence for the user bypasses the bundles", () => {
  const bypassing: string[] = [];
  for (const file of sources) {
    const visit = (node: ts.Node, callee: string): void => {
      const pieces = ts.isTemplateExpression(node) ? [node.head, ...node.templateSpans.map((span) => span.literal)] : [];
      const text = ts.isStringLiteralLike(node) ? node.text : pieces.map((piece) => piece.text).join("0");
      if (/[a-z]{2,} [a-z]{2,} [a-z]+/i.test(text) && !/\bl10n\.t$/.test(callee) && !FOR_DEVELOPERS.test(callee)) {
        bypassing.push(`${file.fileName}: ${node.getText(file)}`);
      }
      if (ts.isJsxText(node) && /[a-z]/i.test(node.text) && node.text !== "Sluice") {
        bypassing.push(`${file.fileName}: ${node.text.trim()}`);
      }
      const isCall = ts.isCallExpression(node) || ts.isNewExpression(node);
      ts.forEachChild(node, (child) => visit(child, isCall ? node.expression.getText(file) : callee));
    };
    visit(file, "");
  }
  assert.deepEqual(bypassing, [], "use vscode.l10n.t, or a message of the core");
});

test("every key in the manifest has a text and vice versa", () => {
  const used = new Set([...readFileSync("package.json", "utf8").matchAll(/"%([^%"]+)%"/g)].map(([, key]) => key!));
  assert.deepEqual(Object.keys(read("package.nls.json")).sort(), [...used].sort());
});

test("translations are complete and keep placeholders, code and commands", () => {
  const pairs = [
    ...readdirSync("l10n").map((name): [string, string] => ["l10n/bundle.l10n.json", `l10n/${name}`]),
    ...readdirSync(".")
      .filter((name) => /^package\.nls\..+\.json$/.test(name))
      .map((name): [string, string] => ["package.nls.json", name]),
  ];
  for (const language of ["de", "zh-cn"]) {
    const files = pairs.map(([, file]) => file).filter((file) => file.endsWith(`.${language}.json`));
    assert.deepEqual(files, [`l10n/bundle.l10n.${language}.json`, `package.nls.${language}.json`]);
  }
  for (const [original, file] of pairs) {
    const english = read(original);
    const translated = read(file);
    assert.deepEqual(Object.keys(translated).sort(), Object.keys(english).sort(), `${file} has other keys`);
    for (const [key, text] of Object.entries(translated)) {
      assert.deepEqual(holes(text), holes(english[key]!), `${file}: ${key}`);
    }
  }
});

/** A context window, or a prompt that is worth caching, never has one token. */
const ALWAYS_SEVERAL = /tokens([/,:]| in| are| were)/;

test("a text about several things has a singular", () => {
  const english = new Set(Object.keys(read("l10n/bundle.l10n.json")));
  const plural = /^\{\d\} (more )?(model|request|sub-agent|entrie|answer|file|image|message|server|key|token|tool|conversation)s\b/;
  const several = [...english].filter((text) => plural.test(text) && !ALWAYS_SEVERAL.test(text));
  assert(several.length > 2);
  const lonely = several.filter((text) => !english.has(text.replace(plural, "1 $1$2")));
  assert.deepEqual(lonely, [], 'add a text that begins with "1", or reword: "Requests: {0}"');
});

/** What translators have decided: each concept has one name, that of VS Code's language packs, and users are addressed as there. */
const AVOIDED = {
  de: /Basis-URL|\bTokens|Tokenzahl|Denkstärke|Gespräch|Werkzeug|Rechner|Unteragent|Inline-Chat|\bNutzer|\b(setze|du|dein)\b/,
  "zh-cn": /基础网址|会话|您|子代理|思考强度|[（）：]|[，。] /u,
};

test("a translation has one word for one thing", () => {
  for (const [language, avoided] of Object.entries(AVOIDED)) {
    const texts = [`l10n/bundle.l10n.${language}.json`, `package.nls.${language}.json`].flatMap((file) => Object.values(read(file)));
    assert.deepEqual(
      texts.filter((text) => avoided.test(text)),
      [],
    );
  }
});

/** Sections of the core's messages that are about problems, each by its first and its last code. */
const PROBLEMS = [
  ["httpStatus", "waitMoreThanAYear"],
  ["budgetOfKey", "budgetMayBeRenewed"],
  ["noApiHere", "otherBaseUrl"],
  ["onlyThought", "tooFull"],
  ["addressCharacters", "addressNumber"],
  ["addressNotConfirmed", "everythingHidden"],
  ["listTooLong", "providersUnknown"],
  ["keyUnusable", "keyUnusable"],
  ["signedInElsewhere", "signedInElsewhere"],
  ["memoryDamaged", "keysNewer"],
  ["vercelNoFiles", "bodyFieldReserved"],
  ["limitNear", "limitRaise"],
] as const;

/** All other sections: labels, questions, advice that follows a problem, and what a connection test or the inspector shows. */
const OTHERS = [
  ["plain", "plain"],
  ["creditLeft", "creditLeftAndUsed"],
  ["enterKey", "checkBaseUrl"],
  ["askForShorter", "reportCrash"],
  ["notCounted", "subAgents"],
  ["confirmUnencrypted", "sendKeyThere"],
  ["tokenLimits", "pasteKey"],
  ["useThisAddress", "demoLabel"],
  ["requestingModels", "notedSetting"],
  ["keyAccepted", "differsLearned"],
  ["cacheSame", "cacheExtra"],
  ["continueConversation", "limitTooLow"],
  ["demoModel", "costOfTest"],
  ["limitCommand", "limitCommand"],
] as const;

/** Problems that the extension reports in its own words. */
const OWN_PROBLEMS = [
  "A generated image could not be saved. Is the disk full?",
  "The sign-in with the Vercel CLI has expired.",
  'You are signed out. Run "Sluice: Sign in with the Vercel CLI" to continue.',
  "{0} has not answered yet. Its models appear as soon as it does.",
];

type Code = keyof typeof MESSAGES;

/** Returns all codes from the first to the last of each section. */
function codesOf(sections: readonly (readonly [Code, Code])[]): Code[] {
  const codes = Object.keys(MESSAGES) as Code[];
  return sections.flatMap(([first, last]) => codes.slice(codes.indexOf(first), codes.indexOf(last) + 1));
}

test("every message of the core is either a problem or not", () => {
  const sections = [...PROBLEMS, ...OTHERS];
  assert.deepEqual(codesOf(sections).sort(), Object.keys(MESSAGES).sort(), "add new codes to PROBLEMS or to OTHERS");
});

test("the troubleshooting page explains every problem", () => {
  const page = readFileSync("../docs/troubleshooting.md", "utf8");
  const english = read("l10n/bundle.l10n.json");
  assert.deepEqual(
    OWN_PROBLEMS.filter((text) => !(text in english)),
    [],
    "the extension no longer says this",
  );
  const problems = [...codesOf(PROBLEMS).map((code) => MESSAGES[code]), ...OWN_PROBLEMS];
  const shown = (text: string): string => `| ${text.replace(" It should look like {0}", "").replace(/\{\d\}/g, "…")} |`;
  assert.deepEqual(
    problems.map(shown).filter((line) => !page.includes(`\n${line}`)),
    [],
  );
});
