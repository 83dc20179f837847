// A mock of the parts of VS Code that the extension uses, with a user who answers as the test says.

type Listener<T> = (event: T) => unknown;

export class EventEmitter<T> {
  readonly #listeners = new Set<Listener<T>>();
  readonly event = (listener: Listener<T>): { dispose(): void } => {
    this.#listeners.add(listener);
    return { dispose: () => void this.#listeners.delete(listener) };
  };
  fire(event: T): void {
    [...this.#listeners].forEach((listener) => listener(event));
  }
  dispose(): void {
    this.#listeners.clear();
  }
}

export class Uri {
  readonly path: string;
  private constructor(path: string) {
    this.path = path;
  }
  static file(path: string): Uri {
    return new Uri(path.replaceAll("\\", "/"));
  }
  static parse(address: string): Uri {
    return new Uri(address);
  }
  static joinPath(base: Uri, ...names: string[]): Uri {
    return new Uri([base.path, ...names].join("/"));
  }
  with({ path }: { path: string }): Uri {
    return new Uri(path);
  }
  toString(): string {
    return `file://${this.path}`;
  }
}

export class FileSystemError extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

export class CancellationError extends Error {}
export class LanguageModelError extends Error {
  static NoPermissions(message: string): LanguageModelError {
    return new this(message);
  }
  static Blocked(message: string): LanguageModelError {
    return new this(message);
  }
  static NotFound(message: string): LanguageModelError {
    return new this(message);
  }
}
export class LanguageModelTextPart {
  constructor(readonly value: string) {}
}
export class LanguageModelDataPart {
  constructor(
    readonly data: Uint8Array,
    readonly mimeType: string,
  ) {}
}
export class LanguageModelToolCallPart {
  constructor(
    readonly callId: string,
    readonly name: string,
    readonly input: object,
  ) {}
}
export class LanguageModelToolResultPart {
  constructor(
    readonly callId: string,
    readonly content: unknown[],
  ) {}
}
export class LanguageModelPromptTsxPart {
  constructor(readonly value: unknown) {}
}
export class LanguageModelThinkingPart {
  constructor(
    readonly value: string | string[],
    readonly id?: string,
    readonly metadata?: object,
  ) {}
}

export class ThemeColor {
  constructor(readonly id: string) {}
}
export class ThemeIcon {
  constructor(readonly id: string) {}
}
export class MarkdownString {
  value = "";
  appendText(text: string): this {
    this.value += text;
    return this;
  }
  appendMarkdown(text: string): this {
    this.value += text;
    return this;
  }
}

export const version = "1.139.1";
export const LogLevel = { Off: 0, Trace: 1, Debug: 2, Info: 3, Warning: 4, Error: 5 };
export const UIKind = { Desktop: 1, Web: 2 };
export const ViewColumn = { Active: -1 };
export const ProgressLocation = { Notification: 15 };
export const ConfigurationTarget = { Global: 1 };
export const QuickPickItemKind = { Separator: -1, Default: 0 };
export const StatusBarAlignment = { Left: 1, Right: 2 };
export const LanguageModelChatMessageRole = { User: 1, Assistant: 2, System: 3 };
export const LanguageModelChatToolMode = { Auto: 1, Required: 2 };
export const l10n = {
  bundle: undefined,
  t: (message: string, ...values: unknown[]): string => message.replace(/\{(\d+)\}/g, (_, at: string) => String(values[Number(at)])),
};

/** What a test can set and inspect. */
export const fake = {
  files: new Map<string, Uint8Array | Error>(),
  /** When files were changed, if not just now. */
  modified: new Map<string, number>(),
  settings: new Map<string, unknown>(),
  /** What the user will choose next: the label of a button or an item, or undefined to dismiss it. */
  answers: [] as (string | undefined)[],
  /** Answers for requests that no test expects. */
  mistakes: [] as string[],
  /** Every message, list and document that the user saw. */
  seen: [] as string[],
  /** The titles of progress notifications, and the messages in them. */
  progress: [] as string[],
  /** Every line of the output channel. */
  logged: [] as string[],
  /** The level of the output channel. */
  logLevel: 1,
  /** The texts of the status bar, in order. */
  statusBar: [] as string[],
  /** What a screen reader says about each. */
  spoken: [] as string[],
  /** The pages that were opened. */
  panels: [] as { title: string; webview: { html: string }; dispose(): void; [name: string]: unknown }[],
  /** What shows views in the side bar. */
  views: [] as { resolveWebviewView(view: unknown): void }[],
  executed: [] as unknown[][],
  /** What makes the contents of documents, by scheme. */
  documents: new Map<string, { provideTextDocumentContent(uri: unknown): Promise<string> }>(),
  clipboard: "",
  terminal: [] as string[],
  providers: [] as unknown[],
  /** What VS Code does when another extension asks for models. */
  resolveModels: async (): Promise<unknown[]> => [],
  reset(): void {
    fake.files.clear();
    fake.modified.clear();
    fake.settings.clear();
    fake.answers = [];
    fake.mistakes = [];
    fake.seen = [];
    fake.progress = [];
    fake.logged = [];
    fake.logLevel = LogLevel.Trace;
    fake.statusBar = [];
    fake.spoken = [];
    fake.panels.splice(0).forEach((panel) => panel.dispose());
    fake.views = [];
    fake.executed = [];
    fake.clipboard = "";
    fake.terminal = [];
    fake.providers = [];
    fake.resolveModels = async () => [];
    registered.clear();
    configurationChanged.dispose();
  },
};

const configurationChanged = new EventEmitter<{ affectsConfiguration(section: string): boolean }>();
const registered = new Map<string, (...values: unknown[]) => unknown>();

/** Returns the settings under a name, or undefined if there are none. */
function group(name: string): object | undefined {
  const inner = [...fake.settings].filter(([full]) => full.startsWith(`${name}.`)).map(([full]) => full.slice(name.length + 1));
  const names = new Set(inner.map((rest) => rest.split(".")[0]!));
  const value = (field: string): unknown => fake.settings.get(`${name}.${field}`) ?? group(`${name}.${field}`);
  return names.size === 0 ? undefined : Object.fromEntries([...names].map((field) => [field, value(field)]));
}

function answer(choices: readonly { title: string }[]): string | undefined {
  const wanted = fake.answers.shift();
  if (wanted !== undefined && !choices.some(({ title }) => title === wanted)) {
    fake.mistakes.push(`${wanted} is not among ${choices.map(({ title }) => title).join(", ")}`);
  }
  return wanted;
}

function show(kind: string) {
  return async (message: string, ...rest: (string | { modal: boolean })[]): Promise<string | undefined> => {
    fake.seen.push(`${kind}: ${message}`);
    return answer(rest.filter((choice) => typeof choice === "string").map((title) => ({ title })));
  };
}

export const window = {
  showInformationMessage: show("info"),
  showWarningMessage: show("warning"),
  showErrorMessage: show("error"),
  showQuickPick: async (items: readonly { label: string }[], options: { title?: string }): Promise<unknown> => {
    fake.seen.push(`pick: ${options.title ?? ""}: ${items.map(({ label }) => label).join(", ")}`);
    const label = answer(items.map((item) => ({ title: item.label })));
    return items.find((item) => item.label === label);
  },
  withProgress: async ({ title }: { title: string }, work: (progress: unknown, token: unknown) => Promise<unknown>): Promise<unknown> => {
    fake.progress.push(title);
    const report = ({ message }: { message: string }): unknown => fake.progress.push(message);
    return work({ report }, { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) });
  },
  showTextDocument: async ({ content }: { content: string }): Promise<void> => void fake.seen.push(`document: ${content}`),
  createStatusBarItem: () => ({
    text: "",
    accessibilityInformation: { label: "" },
    show(): void {
      fake.statusBar.push(this.text);
      fake.spoken.push(this.accessibilityInformation.label);
    },
    dispose: () => undefined,
  }),
  createWebviewPanel: (_type: string, title: string) => {
    const closed = new EventEmitter<void>();
    fake.panels.push({ title, webview: { html: "" }, reveal: () => undefined, onDidDispose: closed.event, dispose: () => closed.fire() });
    return fake.panels.at(-1);
  },
  registerWebviewViewProvider: (_id: string, provider: unknown) => {
    fake.views.push(provider as { resolveWebviewView(view: unknown): void });
    return { dispose: () => undefined };
  },
  /** An input box whose user types the next answers, or presses the button with such a tooltip, until the box is gone. */
  createInputBox: () => {
    const listeners: { [event: string]: (value?: unknown) => unknown } = {};
    const on = (event: string) => (listener: (value?: unknown) => unknown) => void (listeners[event] = listener);
    let isGone = false;
    const box = {
      title: "",
      prompt: "",
      value: "",
      enabled: true,
      validationMessage: undefined as string | undefined,
      buttons: [] as { tooltip: string }[],
      onDidTriggerButton: on("button"),
      onDidHide: on("hide"),
      onDidChangeValue: on("change"),
      onDidAccept: on("accept"),
      dispose: () => void (isGone = true),
      show: async () => {
        fake.seen.push(`input: ${box.title}: ${box.prompt}`);
        while (!isGone) {
          const typed = fake.answers.shift();
          const button = box.buttons.find(({ tooltip }) => tooltip.replaceAll("\u2060", "") === typed);
          if (typed === undefined || button !== undefined) {
            listeners[button === undefined ? "hide" : "button"]?.(button);
          } else {
            box.value = typed;
            listeners["change"]?.();
            listeners["accept"]?.();
            // The box is disabled while the input is checked.
            while (!isGone && !box.enabled) {
              await new Promise((resolve) => setImmediate(resolve));
            }
            if (box.validationMessage !== undefined) {
              fake.seen.push(`invalid: ${box.validationMessage}`);
            }
          }
        }
      },
    };
    return box;
  },
  createTerminal: () => ({ show: () => undefined, sendText: (text: string) => fake.terminal.push(text) }),
  createOutputChannel: () => {
    const levels = ["off", "trace", "debug", "info", "warn", "error"];
    const line = (level: string) => (text: string) => {
      if (fake.logLevel !== LogLevel.Off && fake.logLevel <= levels.indexOf(level)) {
        fake.logged.push(`${level}: ${text}`);
      }
    };
    return {
      get logLevel() {
        return fake.logLevel;
      },
      trace: line("trace"),
      debug: line("debug"),
      info: line("info"),
      warn: line("warn"),
      error: line("error"),
      show: () => undefined,
      dispose: () => undefined,
    };
  },
};

export const workspace = {
  isTrusted: true,
  fs: {
    readFile: async ({ path }: Uri): Promise<Uint8Array> => {
      const file = fake.files.get(path) ?? new FileSystemError("FileNotFound");
      if (file instanceof Error) {
        throw file;
      }
      return file;
    },
    writeFile: async ({ path }: Uri, bytes: Uint8Array): Promise<void> => void fake.files.set(path, bytes),
    delete: async ({ path }: Uri, { recursive = false } = {}): Promise<void> => {
      const isBelow = (name: string): boolean => name === path || (recursive && name.startsWith(`${path}/`));
      [...fake.files.keys()].filter(isBelow).forEach((name) => fake.files.delete(name));
    },
    stat: async ({ path }: Uri): Promise<{ mtime: number; size: number }> => {
      const file = fake.files.get(path);
      if (file === undefined) {
        throw new FileSystemError("FileNotFound");
      }
      return { mtime: fake.modified.get(path) ?? Date.now(), size: file instanceof Uint8Array ? file.length : 0 };
    },
    createDirectory: async (): Promise<void> => undefined,
    readDirectory: async ({ path }: Uri): Promise<[string, number][]> =>
      [...fake.files.keys()].filter((file) => file.startsWith(`${path}/`)).map((file) => [file.slice(path.length + 1), 1]),
    rename: async (from: Uri, to: Uri, { overwrite }: { overwrite?: boolean } = {}): Promise<void> => {
      if (!fake.files.has(from.path)) {
        throw new FileSystemError("FileNotFound");
      }
      if (overwrite !== true && fake.files.has(to.path)) {
        throw new FileSystemError("FileExists");
      }
      if (overwrite === true && fake.files.delete(to.path)) {
        // VS Code deletes the old file first. Other windows see that it is gone.
        await new Promise((resolve) => setImmediate(resolve));
      }
      fake.files.set(to.path, fake.files.get(from.path)!);
      fake.files.delete(from.path);
    },
  },
  getConfiguration: (section?: string) => {
    const full = (name: string): string => (section === undefined ? name : `${section}.${name}`);
    return {
      get: (name: string, otherwise?: unknown): unknown => fake.settings.get(full(name)) ?? group(full(name)) ?? otherwise,
      inspect: (name: string) => ({ globalValue: fake.settings.get(full(name)) }),
      update: async (name: string, value: unknown): Promise<void> => {
        value === undefined ? fake.settings.delete(full(name)) : fake.settings.set(full(name), value);
        configurationChanged.fire({ affectsConfiguration: (which) => full(name).startsWith(which) });
      },
    };
  },
  onDidChangeConfiguration: configurationChanged.event,
  registerTextDocumentContentProvider: (scheme: string, provider: unknown) => {
    fake.documents.set(scheme, provider as { provideTextDocumentContent(uri: unknown): Promise<string> });
    return { dispose: () => undefined };
  },
  openTextDocument: async (document: { content: string }): Promise<unknown> => document,
};

export const commands = {
  registerCommand: (name: string, run: (...values: unknown[]) => unknown) => {
    registered.set(name, run);
    return { dispose: () => registered.delete(name) };
  },
  executeCommand: async (name: string, ...values: unknown[]): Promise<unknown> => {
    fake.executed.push([name, ...values]);
    return registered.get(name)?.(...values);
  },
};

export const env = {
  appHost: "desktop",
  uiKind: UIKind.Desktop,
  remoteName: undefined,
  language: "en",
  openExternal: async ({ path }: Uri): Promise<void> => void fake.executed.push(["open", path]),
  clipboard: { writeText: async (text: string): Promise<void> => void (fake.clipboard = text) },
};

export const lm = {
  registerLanguageModelChatProvider: (_vendor: string, provider: unknown) => {
    fake.providers.push(provider);
    return { dispose: () => undefined };
  },
  selectChatModels: (): Promise<unknown[]> => fake.resolveModels(),
};

/** `context.secrets`, which other windows share. */
export class Secrets {
  readonly kept = new Map<string, string>();
  readonly #changed = new EventEmitter<{ key: string }>();
  readonly onDidChange = this.#changed.event;
  async get(key: string): Promise<string | undefined> {
    return this.kept.get(key);
  }
  async store(key: string, value: string): Promise<void> {
    this.kept.set(key, value);
    this.#changed.fire({ key });
  }
  async delete(key: string): Promise<void> {
    this.kept.delete(key);
    this.#changed.fire({ key });
  }
}
