// The commands in the palette, except those that show usage.

import * as vscode from "vscode";

import type { Card } from "../../packages/loader/src/core.js";
import type { Modules } from "../../packages/loader/src/modules.js";
import { testConnection } from "../../packages/loader/src/probe.js";
import { cardPage, cardText, verdict } from "./card-view.js";
import type { Connection, Connections } from "./connections.js";
import { addKey, addServer, noKeyYet } from "./key-commands.js";
import type { KeyStore } from "./key-store.js";
import type { Log } from "./log.js";
import { localized, noteText, parseEndpoint } from "./messages.js";
import { chooseDefaultModel, editModel, setUpModels } from "./model-commands.js";
import type { SluiceModel } from "./model-information.js";
import type { ModelLists } from "./models.js";
import { confirm, offer, pick, type StatusBar, showError, showInformation, showPage, showWarning, withProgress } from "./notify.js";
import { type Manifest, redactedReport } from "./report.js";
import { openSetting, readSettings, settingsBaseUrl, showTextAtOnce } from "./settings.js";
import { explain, type SignIn } from "./sign-in.js";
import type { VaultFiles } from "./vault-files.js";

const WALKTHROUGH = "start";
export const SMOOTH_STREAMING_ANSWERED = "smoothStreamingAnswered";

export interface CommandServices {
  readonly context: vscode.ExtensionContext;
  readonly modules: Modules;
  readonly connections: Connections;
  readonly lists: ModelLists;
  readonly signIn: SignIn;
  readonly vault: VaultFiles;
  readonly keys: KeyStore;
  readonly log: Log;
  readonly status: StatusBar;
  /** The models that VS Code has. */
  readonly listed: () => SluiceModel[];
  /** Makes VS Code ask for the models again. */
  readonly refreshProvider: () => void;
}

export function registerCommands(services: CommandServices): vscode.Disposable[] {
  const commands: { [name: string]: (services: CommandServices, connection?: Connection) => Promise<unknown> } = {
    addKey,
    addServer,
    refreshModels,
    chooseDefaultModel,
    editModel,
    setUpModels,
    testConnection: testConnections,
    signInWithVercelCli,
    signOut,
    deleteReasoning,
    exportReport,
    openWalkthrough,
    smoothStreaming,
  };
  return Object.entries(commands).map(([name, run]) =>
    vscode.commands.registerCommand(`sluice.${name}`, async (connection?: Connection) => {
      try {
        await run(services, connection);
      } catch (error) {
        const message = services.log.redact(error instanceof Error ? error.message : String(error));
        services.log.failure("error", name, error);
        void showError(`Sluice: ${message}`);
      }
    }),
  );
}

async function refreshModels({ connections, lists, refreshProvider }: CommandServices): Promise<void> {
  let known = await connections.all();
  let isConfirmed = false;
  for (const way of known) {
    isConfirmed = ("problem" in way && (await way.confirm?.())) || isConfirmed;
  }
  known = isConfirmed ? await connections.all() : known;
  const usable = connections.usable.filter(({ isDemo }) => !isDemo);
  const catalogs = await withProgress(vscode.l10n.t("Requesting the models"), () =>
    Promise.all(usable.map((connection) => lists.refresh(connection))),
  );
  refreshProvider();
  const problems = known.flatMap((way) => ("problem" in way ? [`${way.label}: ${way.problem}`] : []));
  // If the list couldn't be refreshed, a note says so; the models known before are still there.
  catalogs.forEach((catalog, index) => {
    problems.push(...catalog.notes.filter(({ kind }) => kind === "modelList").map((note) => `${usable[index]!.label}: ${noteText(note)}`));
  });
  if (problems.length > 0) {
    return offer(showWarning, `Sluice: ${problems.join(" ")}`, { [vscode.l10n.t("Test the Connection")]: "sluice.testConnection" });
  }
  if (usable.length === 0) {
    return noKeyYet();
  }
  const count = catalogs.reduce((sum, { models }) => sum + models.length, 0);
  void showInformation(`Sluice: ${count === 1 ? vscode.l10n.t("1 model can chat.") : vscode.l10n.t("{0} models can chat.", count)}`);
}

async function testConnections(services: CommandServices): Promise<void> {
  const { connections, modules, lists, log } = services;
  const known = await connections.all();
  const real = known.filter((way) => "problem" in way || !way.connection.isDemo);
  if (real.length === 0) {
    return noKeyYet();
  }
  const rows = real.map((way) => ({
    label: way.label,
    description: "problem" in way ? way.problem : way.connection.endpoint.baseUrl,
    way,
  }));
  const way = (rows.length === 1 ? rows[0] : await pick(rows, vscode.l10n.t("Which connection should be tested?")))?.way;
  if (way === undefined) {
    return;
  }
  if ("problem" in way) {
    void showError(log.redact(`Sluice: ${vscode.l10n.t("Address")}: ${way.problem}`));
    return;
  }
  const { connection, label } = way as { connection: Connection; label: string };
  const [core, requests] = await Promise.all([modules.core(), modules.requests()]);
  const settings = readSettings(requests, log);
  const proxy = vscode.workspace.getConfiguration("http").get("proxy", "");
  const card = await withProgress(vscode.l10n.t("Testing {0}", label), (onProgress, cancellation) =>
    testConnection({ connection, core, requests, settings, proxy, localized, cancellation, onProgress }),
  );
  if (card === undefined) {
    return;
  }
  for (const { topic, result, detail } of card.checks) {
    log.info(`Test of ${connection.endpoint.origin}: ${topic}: ${result}.`);
    log.trace(`Test of ${label}: ${topic}: ${localized(detail)}`);
  }
  if (card.model !== null) {
    await lists.learnFrom(connection, card.model, card);
  }
  await showCard(services, label, card);
}

async function showCard({ log, context }: CommandServices, label: string, card: Card): Promise<void> {
  showPage(label, cardPage(label, card, log.redact.bind(log)));
  const { version } = context.extension.packageJSON as Manifest;
  const isBad = card.checks.some(({ result }) => result === "failed");
  const details = cardText(`Sluice ${version}, VS Code ${vscode.version}: ${label}`, card);
  await offer(isBad ? showError : showInformation, log.redact(`Sluice: ${verdict(label, card)}`), {
    [vscode.l10n.t("Copy Details")]: () => vscode.env.clipboard.writeText(log.redact(details)),
  });
}

async function signInWithVercelCli({ modules, signIn, log }: CommandServices): Promise<void> {
  const requests = await modules.requests();
  let endpoint;
  try {
    endpoint = parseEndpoint(requests, settingsBaseUrl());
  } catch (error) {
    const open = { [vscode.l10n.t("Open the Setting")]: () => openSetting("baseUrl") };
    return offer(showError, `Sluice: ${(error as Error).message}`, open);
  }
  if (!endpoint.isVercel && !endpoint.isLoopback) {
    const message = vscode.l10n.t(
      "Your settings specify {0} as the gateway. The token of your Vercel project will be sent there.",
      endpoint.origin,
    );
    if (!(await confirm(message, vscode.l10n.t("Sign In for This Address")))) {
      return;
    }
  }
  try {
    const whom = await signIn.signIn(endpoint);
    if (whom !== undefined) {
      void showInformation(vscode.l10n.t("Sluice: signed in for {0}. The models are in the model picker of the chat.", whom));
    }
  } catch (error) {
    const { text, command, detail } = explain(error);
    log.warn(`Sign-in: ${detail}`);
    const run = (): void => {
      const terminal = vscode.window.createTerminal("Vercel");
      terminal.show();
      terminal.sendText(command!);
    };
    await offer(showError, `Sluice: ${text}`, command === null ? {} : { [vscode.l10n.t("Run `{0}` in a Terminal", command)]: run });
  }
}

async function signOut({ signIn }: CommandServices): Promise<void> {
  if ((await signIn.current()) === undefined) {
    void showInformation(
      vscode.l10n.t('Sluice: you aren\'t signed in with the Vercel CLI. To remove a key, run "Sluice: Add or Change a Key".'),
    );
    return;
  }
  await signIn.signOut();
  void showInformation(vscode.l10n.t("Sluice: signed out. The token is deleted; the Vercel CLI stays logged in."));
}

async function deleteReasoning({ vault }: CommandServices): Promise<void> {
  await vault.clear();
  void showInformation(vscode.l10n.t("Sluice: the reasoning of earlier answers is deleted."));
}

async function exportReport(services: CommandServices): Promise<void> {
  await openDocument(await redactedReport(services), "json");
}

async function openWalkthrough({ context }: CommandServices): Promise<void> {
  await vscode.commands.executeCommand("workbench.action.openWalkthrough", `${context.extension.id}#${WALKTHROUGH}`, false);
}

/** Offers an experiment of VS Code. The status bar mentions it until the user has answered. */
async function smoothStreaming({ context, status }: CommandServices): Promise<void> {
  const turnOn = vscode.l10n.t("Turn On");
  const never = vscode.l10n.t("Don't Offer Again");
  const message = vscode.l10n.t(
    "Smoother streaming: VS Code shows text as it arrives instead of word by word. This is an experiment of VS Code (chat.experimental.incrementalRendering), which may change or remove it. It may need a restart of VS Code.",
  );
  const answer = await showInformation(message, turnOn, never);
  if (answer === turnOn) {
    await showTextAtOnce();
  }
  if (answer !== undefined) {
    await context.globalState.update(SMOOTH_STREAMING_ANSWERED, true);
    status.offersSmoothStreaming = false;
  }
}

async function openDocument(content: string, language: string): Promise<void> {
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content, language }));
}
