// The extension host's process. Node's types are not used in the product, because the web worker host has no Node.

/** The parts of Node's `process` that are used. */
interface HostProcess {
  readonly env: { readonly [name: string]: string | undefined };
  readonly platform?: string;
  readonly arch?: string;
  readonly versions?: { readonly node?: string };
}

/** Returns an empty environment and nothing else in the web worker host. */
export function hostProcess(): HostProcess {
  return (globalThis as { process?: HostProcess }).process ?? { env: {} };
}

/** Only called if the host is Node. */
declare function require(name: "node:fs"): { chmodSync(path: string, mode: number): void };

/** Makes a folder accessible to its owner only. In a browser, and on Windows, it is so already. */
export function makePrivate({ scheme, fsPath }: { readonly scheme: string; readonly fsPath: string }): void {
  if (scheme === "file" && hostProcess().versions?.node !== undefined) {
    require("node:fs").chmodSync(fsPath, 0o700);
  }
}

/** Returns these variables of the environment. Everything else, such as a key, stays in the shell. */
export function environment(names: readonly string[]): { [name: string]: string } {
  const { env } = hostProcess();
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
