// Dialogs with the user. The core decides what is asked next and what is done with the answers (dialogs.rs); its steps are
// carried out here.

import * as vscode from "vscode";

import type { ConnectionTest, Dialog, DialogModel, DialogStep, SpendChoice } from "../../packages/loader/src/boundary.js";
import { testConnection } from "../../packages/loader/src/probe.js";
import { type Connection, isUsable, type Known } from "./connections.js";
import type { KeyStore } from "./key-store.js";
import { localized } from "./messages.js";
import type { SluiceModel } from "./model-information.js";
import { InputBox, pick, showMessage, showPage, withProgress } from "./notify.js";
import type { Provider, Services } from "./provider.js";
import { readSettings } from "./settings.js";
import type { SignIn } from "./sign-in.js";

interface DialogServices extends Pick<Services, "modules" | "connections" | "lists" | "log" | "recorder"> {
  readonly context: vscode.ExtensionContext;
  readonly keys: KeyStore;
  readonly signIn: SignIn;
}

/** What belongs to one dialog. */
interface Open {
  readonly box: InputBox;
  /** The connections that were listed last. */
  known: readonly Known[];
}

export class Dialogs {
  constructor(
    private readonly services: DialogServices,
    private readonly provider: () => Pick<Provider, "listed" | "refresh">,
  ) {}

  /** Returns what the user decided about a limit, if the dialog asked. */
  async run(dialog: Dialog): Promise<SpendChoice | null> {
    const requests = await this.services.modules.requests();
    const open: Open = { box: new InputBox(), known: [] };
    try {
      return await requests.dialog(dialog, (step) => this.#perform(step, open));
    } finally {
      open.box.close();
    }
  }

  /** Runs a dialog that each user sees only once. */
  async once(name: string, dialog: Dialog): Promise<void> {
    const { globalState } = this.services.context;
    if (globalState.get(name) !== true) {
      await globalState.update(name, true);
      await this.run(dialog);
    }
  }

  async #perform(step: DialogStep, open: Open): Promise<unknown> {
    const { context, connections, keys, lists, log, recorder, signIn } = this.services;
    const configuration = vscode.workspace.getConfiguration();
    switch (step.type) {
      case "pick":
        return pick(step);
      case "input":
        return open.box.ask(step.input, step.problem);
      case "closeInput":
        return open.box.close();
      case "show":
        return showMessage(step);
      case "readSetting":
        return step.isOwn ? configuration.inspect(step.name)?.globalValue : configuration.get(step.name);
      case "writeSetting": {
        const written = configuration.update(step.name, step.value ?? undefined, vscode.ConfigurationTarget.Global);
        return step.mayBeUnknown ? written.then(undefined, () => undefined) : written;
      }
      case "run":
        // What a command returns doesn't cross: it may be anything.
        return void (await vscode.commands.executeCommand(step.command, ...step.arguments));
      case "listModels":
        await connections.all();
        return this.provider().listed.map(toDialogModel);
      case "listConnections":
        open.known = (await connections.all()).filter(({ isDemo }) => !isDemo);
        return open.known.map((known) => ({ ...known, problem: known.problem && log.redact(known.problem) }));
      case "confirmAddress": {
        const { id, question } = open.known[step.index]!;
        return question !== null && connections.confirm(id, question);
      }
      case "refreshModels": {
        const refresh = async (connection: Connection) => [connection.label, (await lists.work(connection, "refresh")).check] as const;
        const usable = connections.usable.filter(({ isDemo }) => !isDemo);
        const checks = await withProgress(localized([step.title]), () => Promise.all(usable.map(refresh)));
        this.provider().refresh();
        return checks;
      }
      case "testConnection": {
        const known = open.known[step.index]!;
        return isUsable(known) && this.#test(known, localized([step.title]));
      }
      case "askVercel": {
        const ask = () => signIn.work({ ask: step.task });
        return (await (step.title === null ? ask() : withProgress(localized([step.title]), ask))).answer;
      }
      case "signOut":
        return (await signIn.work("signOut")).wasSignedIn;
      case "runInTerminal": {
        const terminal = vscode.window.createTerminal("Vercel");
        terminal.show();
        return terminal.sendText(step.command);
      }
      case "copy":
        return vscode.env.clipboard.writeText(step.text);
      case "openRecording":
        return recorder.open(step.id, step.withTexts);
      case "readState":
        return context.workspaceState.get(step.name);
      case "writeState":
        return (step.isOfWorkspace ? context.workspaceState : context.globalState).update(step.name, step.value ?? undefined);
      case "readKeys":
        return keys.read();
      case "writeKeys":
        return keys.write(step.stored);
      case "readOrigins":
        return connections.originsOf(step.key);
      case "checkServer":
        return (await lists.work(await connections.entered(step.server), "check")).check;
      case "forgetServer":
        return void (await lists.work(await connections.entered(step.server), "forget"));
      case "open":
        return vscode.env.openExternal(vscode.Uri.parse(step.url));
      case "done":
        return undefined;
    }
  }

  /** Returns undefined if the user cancels. */
  async #test(connection: Connection, title: string): Promise<ConnectionTest | undefined> {
    const { context, modules, lists, log } = this.services;
    const [core, requests] = await Promise.all([modules.core(), modules.requests()]);
    const settings = readSettings(requests, log);
    const proxy = vscode.workspace.getConfiguration("http").get("proxy", "");
    const card = await withProgress(title, (onProgress, cancellation) =>
      testConnection({ connection, core, requests, settings, proxy, localized, cancellation, onProgress }),
    );
    if (card === undefined) {
      return undefined;
    }
    const { label, endpoint } = connection;
    for (const { topic, result, detail } of card.checks) {
      log.info(`Test of ${endpoint.origin}: ${topic}: ${result}.`);
      log.trace(`Test of ${label}: ${topic}: ${localized(detail)}`);
    }
    if (card.model !== null) {
      const { model, refused, overflow } = card;
      await lists.work(connection, { learn: { model, refused, overflow } });
    }
    const { version } = context.extension.packageJSON as { version: string };
    const heading = `Sluice ${version}, VS Code ${vscode.version}: ${label}`;
    const [html, test] = requests.showCard({ card, label, title: heading, nonce: crypto.randomUUID() }, log.secrets);
    showPage(label, html);
    return test;
  }
}

function toDialogModel({ id, name, detail = "", pricing = "", model }: SluiceModel): DialogModel {
  const { isDefault, isSmallDefault } = model;
  return { id, name, detail, pricing, serverId: model.id, isDefault, isSmallDefault };
}
