// `docs/settings.md` always agrees with the manifest. `UPDATE_EXPECT=1 npm test` rewrites it.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";

interface Schema {
  readonly type?: string | readonly string[];
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly markdownDescription?: string;
  readonly description?: string;
  readonly markdownEnumDescriptions?: readonly string[];
  readonly properties?: { readonly [name: string]: Schema };
  readonly additionalProperties?: Schema | boolean;
}

const FILE = "../docs/settings.md";
const english = JSON.parse(readFileSync("package.nls.json", "utf8")) as { [key: string]: string };
const manifest = JSON.parse(readFileSync("package.json", "utf8")) as {
  readonly contributes: {
    readonly configuration: { readonly properties: { readonly [name: string]: Schema } };
    readonly commands: readonly { readonly command: string; readonly title: string; readonly category: string }[];
  };
};

/** The text behind a key such as `%setting.caching%`. Links to other settings become plain code. */
const text = (key: string | undefined): string =>
  (key === undefined ? "" : (english[key.slice(1, -1)] ?? key)).replace(/`#([^#`]+)#`/g, "`$1`");

function facts({ type, default: value, enum: choices, minimum, maximum }: Schema): string {
  const range = minimum !== undefined && maximum !== undefined ? `, from ${minimum} to ${maximum}` : "";
  const types = [type ?? []].flat().join(" or ");
  const unset = value === undefined || value === "" || JSON.stringify(value) === "[]" || JSON.stringify(value) === "{}";
  return `Type: ${choices === undefined ? types : "one of the values below"}${range}. ${unset ? "Empty by default." : `Default: \`${JSON.stringify(value)}\`.`}`;
}

function described(name: string, schema: Schema): string[] {
  const lines = [`## \`${name}\``, "", text(schema.markdownDescription), "", facts(schema), ""];
  const choices = schema.enum?.map((choice, index) => {
    const meaning = text(schema.markdownEnumDescriptions?.[index]);
    return `- \`${choice}\`${meaning === "" ? "" : `: ${meaning}`}`;
  });
  lines.push(...(choices === undefined ? [] : [...choices, ""]));
  const fields = typeof schema.additionalProperties === "object" ? (schema.additionalProperties.properties ?? {}) : {};
  for (const [field, inner] of Object.entries(fields)) {
    const values = inner.enum === undefined ? inner.type : inner.enum.map((value) => `\`${value}\``).join(", ");
    const names = Object.keys(inner.properties ?? {}).map((property) => `\`${property}\``);
    const parts = names.length === 0 ? "" : ` Fields: ${names.join(", ")}.`;
    const meaning = text(inner.description) + parts;
    lines.push(`- \`${field}\` (${values})${meaning === "" ? "" : `: ${meaning}`}`);
  }
  return Object.keys(fields).length === 0 ? lines : [...lines, ""];
}

function page(): string {
  const { configuration, commands } = manifest.contributes;
  return [
    "# Settings and commands of the extension",
    "",
    "This page is generated from the extension's manifest: `UPDATE_EXPECT=1 npm test` in `extension/` writes it. All settings are user settings; no workspace can change them.",
    "",
    ...Object.entries(configuration.properties).flatMap(([name, schema]) => described(name, schema)),
    "## Commands",
    "",
    "The ids are for keyboard shortcuts and tasks.",
    "",
    "| command | id |",
    "|---|---|",
    ...commands.map(({ command, title, category }) => `| ${category}: ${text(title)} | \`${command}\` |`),
    "",
  ].join("\n");
}

test("the reference of the settings is fresh", () => {
  const fresh = page();
  if (process.env["UPDATE_EXPECT"] === "1") {
    writeFileSync(FILE, fresh);
  }
  assert.equal(readFileSync(FILE, "utf8"), fresh, "run UPDATE_EXPECT=1 npm test");
  assert(!/%[a-z]+\./.test(fresh), "a text is missing");
});
