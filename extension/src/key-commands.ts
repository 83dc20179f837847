// Adding, checking, changing, renaming and removing keys, and what the user sees before and after.

import * as vscode from "vscode";

import { KEY_VARIABLES, type KeptKey } from "../../packages/loader/src/boundary.js";
import { isHeaderSafe } from "../../packages/loader/src/http.js";
import type { CommandServices } from "./commands.js";
import { type Connection, unusableKey } from "./connections.js";
import { noteText, parseEndpoint } from "./messages.js";
import type { SluiceModel } from "./model-information.js";
import type { Refusal } from "./models.js";
import { confirm, input, offer, pick, showError, showInformation } from "./notify.js";
import { settingsBaseUrl } from "./settings.js";

/** Lists the keys, or asks for the first one. With a connection, asks for its new key. */
export async function addKey(services: CommandServices, connection?: Connection): Promise<void> {
  if (connection !== undefined) {
    return connection.kept === undefined ? elsewhere(services, connection) : enterKey(services, connection.kept);
  }
  const real = (await services.connections.all()).filter((way) => "problem" in way || !way.connection.isDemo);
  const kept = (await services.keys.list()).filter(({ replaces }) => replaces === undefined);
  if (real.length === 0 && kept.length === 0) {
    return enterKey(services);
  }
  // A key of our own is in the store even if it can't be used now.
  const others = real.flatMap((way) => ("connection" in way && !kept.includes(way.connection.kept!) ? [way.connection] : []));
  const rows = [
    { label: vscode.l10n.t("Add a Key"), icon: "add", run: () => enterKey(services) },
    { label: vscode.l10n.t("Use a Local Server"), icon: "server", run: () => addServer(services) },
    ...kept.map((one) => ({
      label: one.name,
      icon: one.key === undefined ? "server" : "key",
      description: one.baseUrl,
      run: () => change(services, one),
    })),
    ...others.map((one) => ({
      label: one.label,
      icon: "key",
      description: one.endpoint.baseUrl,
      detail: one.kept === undefined ? "" : vscode.l10n.t("Added in Manage Models"),
      run: () => addKey(services, one),
    })),
  ];
  await (await pick(rows, vscode.l10n.t("Add or Change a Key")))?.run();
}

async function change(services: CommandServices, kept: KeptKey): Promise<void> {
  const rows = [
    { label: vscode.l10n.t("Change the Key"), icon: "key", run: () => enterKey(services, kept) },
    { label: vscode.l10n.t("Rename"), icon: "edit", run: () => rename(services, kept) },
    { label: vscode.l10n.t("Remove"), icon: "trash", run: () => remove(services, kept) },
  ];
  await (await pick(rows, kept.name, kept.baseUrl))?.run();
}

/** The key is in the environment or comes from a sign-in. */
async function elsewhere({ signIn }: CommandServices, { label }: Connection): Promise<void> {
  if ((await signIn.current())?.label === label) {
    await vscode.commands.executeCommand("sluice.signInWithVercelCli");
    return;
  }
  void showInformation(
    vscode.l10n.t(
      "Sluice: this key is in VS Code's environment, in one of the variables {0}. Change it there, then restart VS Code.",
      KEY_VARIABLES.join(", "),
    ),
  );
}

/** Asks for the address of a server that needs no key, and for a key if it does need one. */
export async function addServer(services: CommandServices): Promise<void> {
  const { modules, connections, lists, keys } = services;
  const requests = await modules.requests();
  let kept: KeptKey | undefined;
  let needsKey = false;
  const entered = await input({
    title: vscode.l10n.t("Use a Local Server"),
    prompt: vscode.l10n.t("Type the address of a server, such as {0} for Ollama, and press Enter.", "localhost:11434"),
    check: async (address) => {
      const endpoint = parseEndpoint(requests, address);
      if (!(await connections.agree(endpoint, undefined))) {
        return { problem: vscode.l10n.t("Nothing was sent. Use https, or another address."), mayKeep: false };
      }
      const name = await freeName(services, new URL(endpoint.origin).host);
      const { list, refusal } = await lists.check(await connections.entered({ name, baseUrl: endpoint.baseUrl }));
      const baseUrl = list.elsewhere ?? endpoint.baseUrl;
      const known = (await keys.list()).find((one) => one.baseUrl === baseUrl && one.key === undefined);
      kept = known ?? { name, baseUrl };
      needsKey = refusal !== undefined;
      const note = list.models.length === 0 ? list.notes.at(-1) : undefined;
      return needsKey || note === undefined ? undefined : { problem: noteText(note), mayKeep: true };
    },
  });
  if (entered === undefined || kept === undefined) {
    return;
  }
  if (needsKey) {
    return enterKey(services, undefined, kept.baseUrl);
  }
  await keys.put(kept);
  return ready(services, await connections.entered(kept));
}

/** Asks for a key until the server accepts it. */
async function enterKey(services: CommandServices, before?: KeptKey, address?: string): Promise<void> {
  const { modules, connections, lists, keys } = services;
  const requests = await modules.requests();
  const title = before === undefined ? vscode.l10n.t("Add a Key") : vscode.l10n.t("Change the Key");
  let baseUrl = before?.baseUrl ?? address ?? settingsBaseUrl();
  for (;;) {
    const endpoint = parseEndpoint(requests, baseUrl);
    const { host } = new URL(endpoint.origin);
    const kept = { ...(before ?? { name: await freeName(services, host) }), baseUrl: endpoint.baseUrl };
    // Where the server has its list, once that is known.
    let found = kept.baseUrl;
    const withKey = (key: string): KeptKey => ({ ...kept, baseUrl: found, ...(key === "" ? {} : { key }) });
    const otherAddress = { icon: "globe", tooltip: vscode.l10n.t("Use another address than {0}", endpoint.origin) };
    const page = endpoint.keysPage;
    const open = { icon: "link-external", tooltip: vscode.l10n.t("Open the page with your keys") };
    const key = await input({
      title,
      prompt: vscode.l10n.t("Paste a key for {0} and press Enter. It is checked before it is kept.", host),
      isSecret: true,
      buttons: [...(page === null ? [] : [open]), ...(before === undefined ? [otherAddress] : [])],
      check: async (key) => {
        if (key !== "" && !isHeaderSafe(key)) {
          return { problem: unusableKey(), mayKeep: false };
        }
        if (!(await connections.agree(endpoint, withKey(key).key))) {
          return { problem: vscode.l10n.t("Nothing was sent. Use https, or another address."), mayKeep: false };
        }
        const { list, refusal } = await lists.check(await connections.entered(withKey(key)));
        found = list.elsewhere ?? found;
        const note = list.models.length === 0 ? list.notes.at(-1) : undefined;
        const problem = refusal ?? (note && noteText(note));
        return problem === undefined ? undefined : { problem, mayKeep: refusal === undefined };
      },
    });
    if (key === undefined) {
      return;
    }
    if (key === open) {
      await vscode.env.openExternal(vscode.Uri.parse(page!));
    } else if (key === otherAddress) {
      baseUrl = await enterAddress(services, baseUrl);
    } else {
      await keys.put(withKey(key as string), before);
      return ready(services, await connections.entered(withKey(key as string)));
    }
  }
}

/** Returns the address that the user entered, or the one before. */
async function enterAddress({ modules }: CommandServices, before: string): Promise<string> {
  const requests = await modules.requests();
  const address = await input({
    title: vscode.l10n.t("Add a Key"),
    prompt: vscode.l10n.t("The base URL of an Open Responses endpoint, up to and including /v1."),
    value: before,
    check: async (value) => {
      try {
        return void parseEndpoint(requests, value);
      } catch (error) {
        return { problem: (error as Error).message, mayKeep: false };
      }
    },
  });
  return typeof address === "string" ? address : before;
}

async function rename(services: CommandServices, kept: KeptKey): Promise<void> {
  const taken = (await services.keys.list()).map(({ name }) => name);
  const name = await input({
    title: vscode.l10n.t("Rename"),
    prompt: vscode.l10n.t("The name is shown next to models that several servers have."),
    value: kept.name,
    check: async (value) =>
      value === "" || (value !== kept.name && taken.includes(value))
        ? { problem: vscode.l10n.t("Enter a name that no other key has."), mayKeep: false }
        : undefined,
  });
  if (typeof name === "string") {
    await services.keys.put({ ...kept, name }, kept);
  }
}

async function remove({ keys, lists, connections }: CommandServices, kept: KeptKey): Promise<void> {
  if (await confirm(vscode.l10n.t("The key {0} will be deleted from this machine.", kept.name), vscode.l10n.t("Remove"))) {
    await lists.forget(await connections.entered(kept));
    await keys.remove(kept);
  }
}

/** Returns the host as a name, with a number if it is taken. */
async function freeName({ keys }: CommandServices, host: string): Promise<string> {
  const taken = new Set((await keys.list()).map(({ name }) => name));
  let name = host;
  for (let number = 2; taken.has(name); number++) {
    name = `${host} ${number}`;
  }
  return name;
}

/** Says that a key works, and leads to the first chat. New chats start with a suitable model from now on. */
async function ready(services: CommandServices, connection: Connection): Promise<void> {
  const { models } = await services.lists.list(connection);
  const model = models.find(({ isDefault }) => isDefault);
  if (model === undefined) {
    return;
  }
  const before = defaultModel();
  if (before === undefined) {
    await setDefault(model.id);
  }
  const works = vscode.l10n.t('The connection "{0}" works; {1} of its models can chat.', connection.label, models.length);
  const starts = vscode.l10n.t("New chats start with {0}.", model.name);
  const text = ["Sluice:", works, ...((before ?? model.id) === model.id ? [starts] : [])].join(" ");
  const chat = { query: "", modelSelector: { vendor: "sluice", id: model.id } };
  await offer(showInformation, text, {
    [vscode.l10n.t("Start Chatting")]: () => vscode.commands.executeCommand("workbench.action.chat.open", chat),
    [vscode.l10n.t("Choose Another Model")]: "sluice.chooseDefaultModel",
  });
}

/** Returns the model that the user's new chats start with. */
function defaultModel(): unknown {
  return vscode.workspace.getConfiguration("chat").inspect("defaultModel")?.globalValue || undefined;
}

/** Makes new chats start with a suitable model once there is one, whichever way its key came. Afterwards it is up to the user. */
export async function chooseDefault({ globalState }: vscode.ExtensionContext, models: readonly SluiceModel[]): Promise<void> {
  const suitable = models.find(({ model }) => model.isDefault);
  if (suitable === undefined || globalState.get("choseDefault") === true) {
    return;
  }
  await globalState.update("choseDefault", true);
  if (defaultModel() === undefined) {
    await setDefault(suitable.id);
  }
}

/** Makes VS Code start new chats with a model, also in editors and terminals. Versions before 1.127 have no such setting. */
export async function setDefault(id: string | undefined): Promise<void> {
  await vscode.workspace
    .getConfiguration("chat")
    .update("defaultModel", id, vscode.ConfigurationTarget.Global)
    .then(undefined, () => undefined);
}

/** Offers to change a key that a server refused. */
export async function offerToChange({ connection, reason }: Refusal): Promise<void> {
  await offer(showError, `Sluice: ${connection.label}: ${reason}`, {
    [vscode.l10n.t("Change the Key")]: () => vscode.commands.executeCommand("sluice.addKey", connection),
  });
}

/** Shows the next step once, after Sluice was installed. */
export async function greet({ globalState }: vscode.ExtensionContext): Promise<void> {
  if (globalState.get("greeted") === true) {
    return;
  }
  await globalState.update("greeted", true);
  const text = vscode.l10n.t(
    "Sluice is installed. Its demo model is in the model picker of the chat. For real models, add a key, or use a server such as Ollama without one.",
  );
  await offer(showInformation, text, {
    [vscode.l10n.t("Add a Key")]: "sluice.addKey",
    [vscode.l10n.t("Use a Local Server")]: "sluice.addServer",
    [vscode.l10n.t("Show Me Around")]: "sluice.openWalkthrough",
  });
}

export async function noKeyYet(): Promise<void> {
  const message = vscode.l10n.t(
    "Sluice: there is no key yet, so only the demo model is available. It answers inside VS Code and needs no connection.",
  );
  await offer(showInformation, message, {
    [vscode.l10n.t("Add a Key")]: "sluice.addKey",
    [vscode.l10n.t("Use a Local Server")]: "sluice.addServer",
    [vscode.l10n.t("Sign In with the Vercel CLI")]: "sluice.signInWithVercelCli",
  });
}
