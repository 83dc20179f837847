// Forms for models: the default, what is set for single models, and which models VS Code uses for its own jobs.

import * as vscode from "vscode";

import type { CommandServices } from "./commands.js";
import { noKeyYet, setDefault } from "./key-commands.js";
import { localized } from "./messages.js";
import type { SluiceModel } from "./model-information.js";
import { input, pick, type Row, showInformation } from "./notify.js";

/** Returns the models that the user can choose, except the demo. */
async function offered({ connections, listed }: CommandServices): Promise<SluiceModel[]> {
  await connections.all();
  return listed();
}

function modelRow(model: SluiceModel): Row & { readonly model: SluiceModel } {
  const { id, pricing = "" } = model;
  return { label: model.name, description: id, detail: [model.detail ?? "", pricing].filter(Boolean).join(" · "), model };
}

export async function chooseDefaultModel(services: CommandServices): Promise<void> {
  // Several keys may have the same model.
  const models = [...new Map((await offered(services)).map((model) => [model.model.id, model])).values()];
  if (models.length === 0) {
    return noKeyYet();
  }
  const configuration = vscode.workspace.getConfiguration("sluice");
  const now = configuration.get("models.default", "");
  const isDefault = ({ model }: SluiceModel): boolean => model.id === now || model.isDefault;
  const rows = models.map((model) => ({ ...modelRow(model), ...(isDefault(model) ? { icon: "check" } : {}) }));
  const none = { label: vscode.l10n.t("None: leave it to Sluice"), model: undefined };
  const title = vscode.l10n.t("Choose the Default Model");
  const chosen = await pick(now === "" ? rows : [none, ...rows], title, vscode.l10n.t("It is offered first in a new chat"));
  if (chosen !== undefined) {
    const id = chosen.model?.model.id;
    await configuration.update("models.default", id, vscode.ConfigurationTarget.Global);
    await setDefault(id);
  }
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
  const requests = await services.modules.requests();
  const own = { label: vscode.l10n.t("The model's own"), input: "" };
  for (;;) {
    const configuration = vscode.workspace.getConfiguration("sluice");
    const edit = (field: string, input: string) =>
      requests.editOverride(configuration.get("models.overrides", {}), model.model.id, field, input);
    const fields = requests.overrideForm(configuration.get("models.overrides", {}), model.model.id);
    const rows = fields.map((field) => ({ label: localized([field.label]), description: field.value ?? own.label, field }));
    const row = await pick(rows, model.name, vscode.l10n.t("What should be different? Leave the list when you are done."));
    if (row === undefined) {
      return;
    }
    const { name, choices, example } = row.field;
    const chosen =
      choices.length === 0
        ? await input({
            title: row.label,
            prompt: vscode.l10n.t("Enter a value such as {0}, or nothing for the model's own.", example),
            check: async (entered) => {
              const edited = edit(name, entered);
              return "Ok" in edited ? undefined : { problem: localized([edited.Err]), mayKeep: false };
            },
          })
        : (await pick([own, ...choices.map(([value, label]) => ({ label: localized([label]), input: value }))], row.label))?.input;
    const edited = typeof chosen === "string" ? edit(name, chosen) : { Err: null };
    if (!("Ok" in edited)) {
      return;
    }
    const overrides = Object.keys(edited.Ok).length === 0 ? undefined : edited.Ok;
    await configuration.update("models.overrides", overrides, vscode.ConfigurationTarget.Global);
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
