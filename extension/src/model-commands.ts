// Forms for models: what is set for single models, and which models VS Code uses for its own jobs.

import * as vscode from "vscode";

import type { CommandServices } from "./commands.js";
import { noKeyYet } from "./key-commands.js";
import type { SluiceModel } from "./model-information.js";
import { input, pick, type Row, showInformation } from "./notify.js";

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

type Override = { readonly [field: string]: unknown };

/** Returns the models that the user can choose, except the demo. */
async function offered({ connections, listed }: CommandServices): Promise<SluiceModel[]> {
  await connections.all();
  return listed();
}

function modelRow(model: SluiceModel): Row & { readonly model: SluiceModel } {
  const { id, pricing = "" } = model;
  return { label: model.name, description: id, detail: [model.detail ?? "", pricing].filter(Boolean).join(" · "), model };
}

/** Edits `sluice.models.overrides` field by field. */
export async function editModel(services: CommandServices): Promise<void> {
  const models = await offered(services);
  if (models.length === 0) {
    return noKeyYet();
  }
  const title = vscode.l10n.t("Change a Model");
  const model = (await pick(models.map(modelRow), title, vscode.l10n.t("Which model?")))?.model;
  if (model === undefined) {
    return;
  }
  const id = model.model.id;
  for (;;) {
    const configuration = vscode.workspace.getConfiguration("sluice");
    const all = configuration.get<{ readonly [pattern: string]: Override }>("models.overrides", {});
    const now = all[id] ?? {};
    const field = await pick(fields(now), model.name, vscode.l10n.t("What should be different? Leave the list when you are done."));
    const value = await field?.enter();
    if (field === undefined || value === undefined) {
      return;
    }
    const { [field.name]: _, ...others } = now;
    const next = value === null ? others : { ...others, [field.name]: value };
    const { [id]: __, ...rest } = all;
    const overrides = Object.keys(next).length === 0 ? rest : { ...rest, [id]: next };
    await configuration.update(
      "models.overrides",
      Object.keys(overrides).length === 0 ? undefined : overrides,
      vscode.ConfigurationTarget.Global,
    );
  }
}

interface Field extends Row {
  readonly name: string;
  /** Returns the new value, null for the model's own, and undefined if the user cancels. */
  enter(): Promise<unknown>;
}

function fields(now: Override): Field[] {
  const own = vscode.l10n.t("The model's own");
  const shown = (name: string): string => (now[name] === undefined ? own : JSON.stringify(now[name]));
  const row = (name: string, label: string, enter: (label: string) => Promise<unknown>): Field => ({
    name,
    label,
    description: shown(name),
    enter: () => enter(label),
  });
  const choice = async (label: string, values: readonly { label: string; value: unknown }[]): Promise<unknown> =>
    (await pick([{ label: own, value: null }, ...values], label))?.value;
  const tokens = async (label: string): Promise<unknown> => {
    const text = await input({
      title: label,
      prompt: vscode.l10n.t("A number of tokens, such as 200000. Leave it empty for the model's own."),
      check: async (value) =>
        /^(\d{1,9})?$/.test(value) ? undefined : { problem: vscode.l10n.t("Enter a number, such as 200000."), mayKeep: false },
    });
    return typeof text !== "string" ? undefined : text === "" ? null : Number(text);
  };
  const json = async (label: string, example: string): Promise<unknown> => {
    const text = await input({
      title: label,
      prompt: vscode.l10n.t("JSON, such as {0}. Leave it empty for none.", example),
      check: async (value) =>
        value === "" || isObject(value) ? undefined : { problem: vscode.l10n.t("This is not a JSON object."), mayKeep: false },
    });
    return typeof text !== "string" ? undefined : text === "" ? null : JSON.parse(text);
  };
  const yes = vscode.l10n.t("Yes");
  const no = vscode.l10n.t("No");
  const flag = (label: string): Promise<unknown> =>
    choice(label, [
      { label: yes, value: true },
      { label: no, value: false },
    ]);
  return [
    row("hidden", vscode.l10n.t("Hide the model"), flag),
    row("contextWindow", vscode.l10n.t("Context size"), tokens),
    row("maxInputTokens", vscode.l10n.t("Most input tokens"), tokens),
    row("maxOutputTokens", vscode.l10n.t("Most output tokens"), tokens),
    row("effort", vscode.l10n.t("Thinking effort"), (label) =>
      choice(
        label,
        EFFORTS.map((value) => ({ label: value, value })),
      ),
    ),
    row("imageInput", vscode.l10n.t("Can see images"), flag),
    row("body", vscode.l10n.t("Extra fields of the request"), (label) => json(label, '{"temperature": 0.2}')),
    row("routing", vscode.l10n.t("Routing"), (label) => json(label, '{"only": ["anthropic"]}')),
  ];
}

function isObject(text: string): boolean {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** A setting of VS Code that names a model, and how it names it. */
interface Job {
  readonly setting: string;
  readonly label: string;
  /** Whether it is a small job, for which a cheap model is enough. */
  readonly isSmall: boolean;
  readonly value: (model: SluiceModel) => string;
}

function jobs(): Job[] {
  const byId = ({ id }: SluiceModel): string => id;
  const byVendor = ({ id }: SluiceModel): string => `sluice/${id}`;
  const byName = ({ name }: SluiceModel): string => `${name} (sluice)`;
  return [
    { setting: "chat.defaultModel", label: vscode.l10n.t("New chats"), isSmall: false, value: byId },
    { setting: "inlineChat.defaultModel", label: vscode.l10n.t("Inline chat"), isSmall: false, value: byName },
    { setting: "chat.planAgent.defaultModel", label: vscode.l10n.t("Plan agent"), isSmall: false, value: byName },
    { setting: "chat.exploreAgent.defaultModel", label: vscode.l10n.t("Explore sub-agent"), isSmall: true, value: byName },
    { setting: "chat.utilityModel", label: vscode.l10n.t("Summaries and commit messages"), isSmall: true, value: byVendor },
    { setting: "chat.utilitySmallModel", label: vscode.l10n.t("Titles and other small jobs"), isSmall: true, value: byVendor },
  ];
}

/** Lets VS Code use Sluice's models for its own jobs, or no longer. */
export async function setUpModels(services: CommandServices): Promise<void> {
  const models = await offered(services);
  const main = models.find(({ model }) => model.isDefault) ?? models[0];
  const small = models.find(({ model }) => model.isSmallDefault) ?? main;
  if (main === undefined || small === undefined) {
    return noKeyYet();
  }
  const title = vscode.l10n.t("Models for VS Code's Own Jobs");
  const cost = ({ name, pricing }: SluiceModel): string => (pricing === undefined ? name : `${name} (${pricing})`);
  for (;;) {
    const all = jobs();
    const configuration = vscode.workspace.getConfiguration();
    const current = (job: Job): string | undefined => configuration.get<string>(job.setting) || undefined;
    const isOurs = (job: Job): boolean => models.some((model) => job.value(model) === current(job));
    const set = async (job: Job, model: SluiceModel | undefined): Promise<void> =>
      configuration
        .update(job.setting, model && job.value(model), vscode.ConfigurationTarget.Global)
        // This version of VS Code doesn't have the setting.
        .then(undefined, () => undefined);
    const rows = [
      {
        label: vscode.l10n.t("Use Sluice for all of them"),
        icon: "check-all",
        description: vscode.l10n.t("{0}; for small jobs {1}", cost(main), cost(small)),
        run: async () => {
          await Promise.all(all.map((job) => set(job, job.isSmall ? small : main)));
          void showInformation(vscode.l10n.t("Sluice: VS Code now uses {0}, and {1} for small jobs.", cost(main), cost(small)));
          return true;
        },
      },
      ...all.map((job) => {
        const model = models.find((one) => job.value(one) === current(job));
        return {
          label: job.label,
          icon: model === undefined ? "circle-large-outline" : "pass-filled",
          description: model === undefined ? (current(job) ?? vscode.l10n.t("VS Code decides")) : cost(model),
          detail: job.setting,
          run: async () => {
            const chosen = await pick(models.map(modelRow), job.label);
            if (chosen !== undefined) {
              await set(job, chosen.model);
            }
            return false;
          },
        };
      }),
      {
        label: vscode.l10n.t("Leave all of them to VS Code"),
        icon: "discard",
        run: async () => {
          await Promise.all(all.filter(isOurs).map((job) => set(job, undefined)));
          return true;
        },
      },
    ];
    const chosen = await pick(rows, title, vscode.l10n.t("Without this, VS Code uses Copilot's models for some of them"));
    if (chosen === undefined || (await chosen.run())) {
      return;
    }
  }
}
