// The demo gateway (crates/sluice-demo-wasm) behind the shape of `fetch`: its bytes take the very same way as a server's.

interface Exports {
  readonly memory: WebAssembly.Memory;
  input_window(length: number): number;
  output(): number;
  output_length(): number;
  respond(length: number, now: number): number;
  next(body: number): number;
  close(body: number): void;
}

export async function loadDemo(wasm: BufferSource | WebAssembly.Module): Promise<DemoGateway> {
  return new DemoGateway(wasm instanceof WebAssembly.Module ? wasm : await WebAssembly.compile(wasm));
}

export class DemoGateway {
  readonly #exports: Exports;

  constructor(module: WebAssembly.Module) {
    this.#exports = new WebAssembly.Instance(module).exports as unknown as Exports;
  }

  async fetch(url: string, init: RequestInit): Promise<Response> {
    const signal = init.signal ?? undefined;
    signal?.throwIfAborted();
    const { pathname, search } = new URL(url);
    const request = {
      method: init.method ?? "GET",
      path: pathname + search,
      headers: init.headers === undefined ? [] : [...new Headers(init.headers)],
      body: typeof init.body === "string" ? init.body : "",
    };
    const json = new TextEncoder().encode(JSON.stringify(request));
    const window = this.#exports.input_window(json.length);
    new Uint8Array(this.#exports.memory.buffer).set(json, window);
    const handle = this.#exports.respond(json.length, Date.now());
    const head = JSON.parse(new TextDecoder().decode(this.#output())) as { status: number; headers: [string, string][] };

    const exports = this.#exports;
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const delay = exports.next(handle);
        if (delay < 0) {
          controller.close();
          return;
        }
        // Copied before the wait: another request may come meanwhile and use the same memory.
        const bytes = this.#output();
        try {
          await pause(delay, signal);
          controller.enqueue(bytes);
        } catch (error) {
          exports.close(handle);
          controller.error(error);
        }
      },
      cancel: () => exports.close(handle),
    });
    // A response of these statuses has no body, and the constructor insists.
    const isBare = head.status === 204 || head.status === 304;
    return new Response(isBare ? null : body, head);
  }

  #output(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#exports.memory.buffer as ArrayBuffer, this.#exports.output(), this.#exports.output_length()).slice();
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
