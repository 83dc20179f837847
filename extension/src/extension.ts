// Activation: registers the provider and the commands. Everything else waits until it is needed.

import * as vscode from "vscode";
import { Modules } from "../../packages/loader/src/modules.js";
import type { Credit } from "../view/protocol.js";
import { registerCommands } from "./commands.js";
import { type Connection, Connections } from "./connections.js";
import { Dialogs } from "./dialogs.js";
import { INSPECTOR, Inspector } from "./inspector.js";
import { KeyStore } from "./key-store.js";
import { useCore as linkFreeByCore } from "./link-free.js";
import { Log } from "./log.js";
import { ModelLists } from "./models.js";
import { registerProvider, StatusBar } from "./notify.js";
import { PickerChoices } from "./picker-choices.js";
import { Provider } from "./provider.js";
import { Recorder } from "./recorder.js";
import { checkSettings, isIncremental } from "./settings.js";
import { registerSettingsSchema } from "./settings-schema.js";
import { SignIn } from "./sign-in.js";
import { SpendGuard } from "./spend-guard.js";
import { TokenCounts } from "./tokens.js";
import { VaultFiles } from "./vault-files.js";

/** When the bundle started to run. Its first line sets this. */
declare const bundleStarted: number;

/** How long it took to evaluate the bundle. VS Code may do other things between that and `activate`. */
const evaluationMs = performance.now() - bundleStarted;

/** What has to be saved before VS Code closes. */
let saving: readonly { dispose(): Promise<void> }[] = [];

export function activate(context: vscode.ExtensionContext): { readonly activationMs: number } {
  const started = performance.now();
  const log = new Log(vscode.window.createOutputChannel("Sluice", { log: true }));
  const inBundle = (name: string): vscode.Uri => vscode.Uri.joinPath(context.extensionUri, "dist", name);
  const modules = new Modules(
    (name) => vscode.workspace.fs.readFile(inBundle(name)),
    (requests) => {
      log.useCore(requests);
      linkFreeByCore(requests);
      requests.setLanguage({ name: vscode.env.language, sentences: vscode.l10n.bundle ?? {} });
    },
  );
  const signIn = new SignIn(modules, context.secrets, log);
  const keys = new KeyStore(context.secrets);
  const connections = new Connections(modules, context, log, signIn, keys);
  const lists = new ModelLists(modules, context.globalStorageUri, log);
  const recorder = new Recorder(context, modules, log);
  const dialogs: Dialogs = new Dialogs({ context, modules, connections, keys, lists, log, recorder, signIn }, () => provider);
  const status = new StatusBar(() => !isIncremental() && context.globalState.get("smoothStreamingAnswered") === undefined);
  const guard = new SpendGuard(modules, log, dialogs);
  const counts = new TokenCounts(modules, context.globalStorageUri, log, status, guard, (record) => {
    inspector.add(record);
    void recorder.finish(record);
  });
  const credits = async (): Promise<Credit[]> => {
    const ask = async (connection: Connection): Promise<Credit[]> => {
      const { credit } = await lists.work(connection, "credit");
      return credit === null ? [] : [{ server: connection.label, text: credit }];
    };
    return (await Promise.all(connections.usable.map((connection) => ask(connection).catch(() => [])))).flat();
  };
  const inspector = new Inspector(context.extensionUri, counts, recorder, dialogs, credits, log);
  const vault = new VaultFiles(modules, context.globalStorageUri, log);
  saving = [counts, vault];
  const choices = new PickerChoices(context.globalStorageUri);
  const images = vscode.Uri.joinPath(context.globalStorageUri, "images");
  const services = { dialogs, modules, connections, lists, log, counts, vault, recorder, status, choices, images };
  const provider = new Provider(services);
  const refreshProvider = (): void => provider.refresh();
  const listed = (): string[] => provider.listed.map(({ model }) => model.id);
  const check = async (): Promise<void> => checkSettings(await modules.requests(), log, dialogs);
  // This isn't needed before VS Code asks for models, which loads the module that it needs.
  const firstLook = connections.onDidLook(() => {
    firstLook.dispose();
    void check();
    recorder.work("prune").catch((error: unknown) => log.failure("warn", "Old recordings could not be deleted", error));
  });

  context.subscriptions.push(
    log,
    firstLook,
    status,
    vscode.window.registerWebviewViewProvider(INSPECTOR, inspector),
    vscode.commands.registerCommand("sluice.showUsage", () => inspector.show("usage")),
    registerProvider("sluice", provider),
    ...registerCommands({ ...services, context, guard }),
    signIn.onDidChange(refreshProvider),
    registerSettingsSchema(modules, listed, provider.onDidChangeLanguageModelChatInformation),
    keys.onDidChange(refreshProvider),
    connections.onDidConfirm(refreshProvider),
    lists.onDidRefuse((keyRefused) => dialogs.run({ keyRefused })),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("sluice")) {
        void check();
        void lists.reread(connections.usable);
      }
    }),
  );
  return { activationMs: evaluationMs + performance.now() - started };
}

/** Saves what has changed since the last save. */
export async function deactivate(): Promise<void> {
  await Promise.all(saving.map((files) => files.dispose()));
}
