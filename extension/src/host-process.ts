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

/** Returns these variables of the environment. Everything else, such as a key, stays in the shell. */
export function environment(names: readonly string[]): { [name: string]: string } {
  const { env } = hostProcess();
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
