// The embedded gateway (crates/sluice-demo-wasm) with the interface of `fetch`: its bytes take the same path as a
// server's.

import { compile, Instance, type ModuleExports } from "./module.js";

interface Exports extends ModuleExports {
  respond(length: number, now: number): void;
  next(body: number): void;
  close(body: number): void;
}

/** The delay at the end of a body. */
const END = 0xffff_ffff;

export async function loadDemo(wasm: BufferSource | WebAssembly.Module): Promise<DemoGateway> {
  return new DemoGateway(await compile(wasm));
}

export class DemoGateway {
  readonly #instance: Instance<Exports>;

  constructor(module: WebAssembly.Module) {
    this.#instance = new Instance(module);
  }

  async fetch(url: string, init: RequestInit): Promise<Response> {
    const instance = this.#instance;
    const signal = init.signal ?? undefined;
    signal?.throwIfAborted();
    const { pathname, search } = new URL(url);
    const request = {
      method: init.method ?? "GET",
      path: pathname + search,
      headers: init.headers === undefined ? [] : [...new Headers(init.headers)],
      body: await new Response(init.body).text(),
    };
    instance.run((exports) => exports.respond(instance.writeText(JSON.stringify(request)), Date.now()));
    const handle = instance.extra(0);
    const head = JSON.parse(instance.text()) as { status: number; headers: [string, string][] };

    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        instance.run((exports) => exports.next(handle));
        const delay = instance.extra(0);
        if (delay === END) {
          controller.close();
          return;
        }
        // The bytes are copied before the wait, because another request may use the same memory in the meantime.
        const bytes = instance.bytes();
        try {
          await pause(delay, signal);
          controller.enqueue(bytes);
        } catch (error) {
          instance.run((exports) => exports.close(handle));
          controller.error(error);
        }
      },
      cancel: () => instance.run((exports) => exports.close(handle)),
    });
    // The constructor throws if a response with one of these statuses has a body.
    const isBare = head.status === 204 || head.status === 304;
    return new Response(isBare ? null : body, head);
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted === true) {
      stop();
    }
    signal?.addEventListener("abort", stop, { once: true });
  });
}
