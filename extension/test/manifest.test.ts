// Rules for package.json that no tool checks.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

interface Setting {
  readonly scope?: string;
  readonly type: string;
  readonly default: unknown;
  readonly enum?: unknown[];
  readonly markdownEnumDescriptions?: string[];
  readonly markdownDescription?: string;
}

interface Command {
  readonly command: string;
  readonly title: string;
  readonly category: string;
}

interface Step {
  readonly id: string;
  readonly description: string;
  readonly media: { readonly svg: string; readonly altText: string };
  readonly completionEvents: string[];
}

const text = readFileSync("package.json", "utf8");
const manifest = JSON.parse(text) as {
  readonly [field: string]: unknown;
  readonly engines: { vscode: string };
  readonly categories: string[];
  readonly icon: string;
  readonly devDependencies: { [name: string]: string };
  readonly capabilities: { virtualWorkspaces: boolean; untrustedWorkspaces: { supported: string; restrictedConfigurations: string[] } };
  readonly contributes: {
    languageModelChatProviders: {
      vendor: string;
      configuration: { properties: { [name: string]: { secret?: boolean } } };
      [field: string]: unknown;
    }[];
    commands: Command[];
    menus: { commandPalette: { command: string; when: string }[] };
    walkthroughs: { id: string; steps: Step[] }[];
    configuration: { properties: { [name: string]: Setting } };
  };
};
const { contributes } = manifest;
const settings = Object.entries(contributes.configuration.properties);
const english = JSON.parse(readFileSync("package.nls.json", "utf8")) as { [key: string]: string };
const source = readdirSync("src")
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readFileSync(`src/${name}`, "utf8"))
  .join("\n");

test("the manifest is valid for stable VS Code and the marketplace", () => {
  assert.equal(manifest.engines.vscode, "^1.120.0");
  assert.match(manifest.devDependencies["@types/vscode"]!, /^1\.120\./, "vsce refuses types that are newer than the engine");
  for (const absent of ["enabledApiProposals", "extensionKind", "dependencies", "activationEvents", "extensionDependencies"]) {
    assert(!(absent in manifest), absent);
  }
  assert.deepEqual(manifest.categories, ["AI", "Chat"]);
  assert.equal(manifest["main"], manifest["browser"], "one bundle for both hosts");
  const icon = readFileSync(manifest.icon);
  assert.equal(icon.toString("latin1", 1, 4), "PNG");
  assert(icon.readUInt32BE(16) >= 128 && icon.readUInt32BE(16) === icon.readUInt32BE(20), "square, 128 pixels or more");
  assert((manifest["keywords"] as string[]).length <= 30);
  assert.match((manifest["galleryBanner"] as { color: string }).color, /^#[0-9a-f]{6}$/);
});

test("the provider is configured by VS Code, and its key is a secret", () => {
  const [provider] = contributes.languageModelChatProviders;
  assert.equal(provider!.vendor, "sluice");
  assert(!("managementCommand" in provider!), "with it VS Code would never ask for the key");
  assert.equal(provider!.configuration.properties["apiKey"]?.secret, true);
});

test("no workspace can change a setting", () => {
  const restricted = new Set(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations);
  assert.equal(manifest.capabilities.untrustedWorkspaces.supported, "limited");
  for (const [name, setting] of settings) {
    assert.equal(setting.scope, "application", name);
    if (/baseUrl|header|routing/i.test(name)) {
      assert(restricted.has(name), `${name} decides where requests and keys go`);
    }
  }
  for (const name of restricted) {
    assert(name in contributes.configuration.properties, name);
  }
});

/** What users may have in their settings and key bindings. Entries are added with each release, and none is removed. */
const PUBLISHED = JSON.parse(readFileSync("test/data/manifest-1.json", "utf8")) as {
  readonly settings: { [name: string]: { type: string; enum?: string[] } };
  readonly commands: string[];
};

test("settings and commands of every older version still exist", () => {
  for (const [name, { type, enum: values = [] }] of Object.entries(PUBLISHED.settings)) {
    const setting = contributes.configuration.properties[name];
    assert.equal(setting?.type, type, name);
    assert.deepEqual(
      values.filter((value) => !setting!.enum?.includes(value)),
      [],
      name,
    );
  }
  const commands = new Set(contributes.commands.map(({ command }) => command));
  assert.deepEqual(
    PUBLISHED.commands.filter((command) => !commands.has(command)),
    [],
  );
  const added = [...settings.map(([name]) => name), ...commands].filter(
    (name) => !(name in PUBLISHED.settings) && !PUBLISHED.commands.includes(name),
  );
  assert.deepEqual(added, [], "add them to test/data/manifest-1.json");
});

test("every setting has a description and a default of its type", () => {
  for (const [name, setting] of settings) {
    const actual = Array.isArray(setting.default) ? "array" : typeof setting.default;
    assert.equal(actual, setting.type, name);
    assert.match(setting.markdownDescription ?? "", /^%.+%$/, name);
    if (setting.enum !== undefined) {
      assert(setting.enum.includes(setting.default), name);
      assert([undefined, setting.enum.length].includes(setting.markdownEnumDescriptions?.length), name);
    }
  }
  const readme = readFileSync("README.md", "utf8");
  for (const [name] of settings) {
    assert(readme.includes(`\`${name}\``), `README.md does not tell of ${name}`);
  }
});

test("every command is registered, and the palette hides those that can't work", () => {
  const names = contributes.commands.map(({ command }) => command);
  for (const { command, category, title } of contributes.commands) {
    assert.equal(category, "Sluice");
    assert.match(title, /^%.+%$/);
    const name = command.replace(/^sluice\./, "");
    assert(new RegExp(`\\b${name}[,:(]|"${command}"`).test(source), `nothing registers ${command}`);
  }
  for (const { command, when } of contributes.menus.commandPalette) {
    assert(names.includes(command), command);
    // Context keys that VS Code itself sets. Others would have to be set at activation.
    for (const key of when.match(/[A-Za-z][\w.]*/g) ?? []) {
      assert(["isWeb", "remoteName"].includes(key), `${command}: ${key}`);
    }
  }
});

test("the walkthrough's pictures, commands and settings exist", () => {
  const [walkthrough] = contributes.walkthroughs;
  assert.equal(walkthrough!.id, "start");
  const commands = new Set(contributes.commands.map(({ command }) => command));
  for (const { id, description, media, completionEvents } of walkthrough!.steps) {
    assert(existsSync(media.svg), media.svg);
    assert(!/<script|<style|style=/.test(readFileSync(media.svg, "utf8")), "VS Code's page for it takes neither scripts nor styles");
    const words = english[description.slice(1, -1)]!;
    const used = [...words.matchAll(/\(command:([\w.]+)/g), ...completionEvents.join(" ").matchAll(/onCommand:([\w.]+)/g)];
    assert(used.length > 0, id);
    for (const [, command] of used) {
      assert(command!.startsWith("workbench.") || commands.has(command!), `${id}: ${command}`);
    }
    for (const [, setting] of completionEvents.join(" ").matchAll(/onSettingChanged:([\w.]+)/g)) {
      assert(setting! in contributes.configuration.properties, setting);
    }
  }
});

test("the marketplace pages contain no picture that vsce refuses", () => {
  for (const file of ["README.md", "CHANGELOG.md"]) {
    const words = readFileSync(file, "utf8");
    assert(words.length > 200, file);
    assert(!/\.svg\)|<svg/i.test(words), file);
    for (const [, alternative, picture] of words.matchAll(/!\[([^\]]*)\]\(([^)]*)\)/g)) {
      assert(alternative!.length > 20, `${file}: ${picture} needs a description`);
      assert(existsSync(picture!), `${file}: ${picture}`);
    }
  }
});
