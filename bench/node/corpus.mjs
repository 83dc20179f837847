// The streams that every benchmark reads. They are made up, the same in every run, and identical to those of
// `../src/corpus.rs`, which explains their shape. A shared checksum ensures this.

const TEXT_DELTAS = 20_000;
const CALLS = 200;
const DELTAS_PER_CALL = 50;

const TEXT_CHECKSUM = 0x85882dfd;
const TOOLS_CHECKSUM = 0xad0bb37c;

/** One long answer: text deltas of one to six tokens, and the whole text four more times at the end. */
export function textCorpus(deltas = TEXT_DELTAS) {
  const random = new Random(0x51);
  const stream = new Writer();
  const id = `msg_${random.hex(50)}`;
  let text = "";

  stream.begin();
  stream.event("response.output_item.added", `"item":${message(id)},"output_index":0`);
  stream.event("response.content_part.added", `"content_index":0,"item_id":"${id}","output_index":0,"part":${outputText("")}`);
  for (let i = 0; i < deltas; i++) {
    let delta = "";
    for (let tokens = random.below(6); tokens >= 0; tokens--) delta += random.pick(TOKENS);
    const padding = random.letters(16 - ([...delta].length % 16));
    stream.event(
      "response.output_text.delta",
      `"content_index":0,"delta":${JSON.stringify(delta)},"item_id":"${id}","logprobs":[],` + `"obfuscation":"${padding}","output_index":0`,
    );
    text += delta;
  }
  const place = `"content_index":0,"item_id":"${id}"`;
  stream.event("response.output_text.done", `${place},"logprobs":[],"output_index":0,"text":${JSON.stringify(text)}`);
  stream.event("response.content_part.done", `${place},"output_index":0,"part":${outputText(text)}`);
  const item = message(id, text);
  stream.event("response.output_item.done", `"item":${item},"output_index":0`);
  stream.complete(item);
  return stream.corpus("text", { text, calls: [] }, deltas === TEXT_DELTAS ? TEXT_CHECKSUM : undefined);
}

/** An agent's answer: 200 calls one after the other, each with its arguments in 50 deltas. */
export function toolsCorpus() {
  const random = new Random(0x70);
  const stream = new Writer();
  const calls = [];
  const items = [];

  stream.begin();
  for (let index = 0; index < CALLS; index++) {
    const id = `fc_${random.hex(50)}`;
    const callId = `call_${random.letters(24)}`;
    const name = random.pick(TOOL_NAMES);
    let query = "";
    for (let tokens = 0; tokens < 40; tokens++) query += random.pick(ASCII_TOKENS);
    const path = `src/module_${random.below(1000)}.rs`;
    const input = `{"path":"${path}","query":${JSON.stringify(query)},"limit":${random.below(100)}}`;
    const item = (status, text) =>
      `{"id":"${id}","type":"function_call","status":"${status}","arguments":${JSON.stringify(text)},` +
      `"call_id":"${callId}","name":"${name}"}`;

    stream.event("response.output_item.added", `"item":${item("in_progress", "")},"output_index":${index}`);
    for (let piece = 0; piece < DELTAS_PER_CALL; piece++) {
      const from = Math.floor((piece * input.length) / DELTAS_PER_CALL);
      const to = Math.floor(((piece + 1) * input.length) / DELTAS_PER_CALL);
      const padding = random.letters(16 - ((to - from) % 16));
      stream.event(
        "response.function_call_arguments.delta",
        `"delta":${JSON.stringify(input.slice(from, to))},"item_id":"${id}",` + `"obfuscation":"${padding}","output_index":${index}`,
      );
    }
    stream.event("response.function_call_arguments.done", `"arguments":${JSON.stringify(input)},"item_id":"${id}","output_index":${index}`);
    const done = item("completed", input);
    stream.event("response.output_item.done", `"item":${done},"output_index":${index}`);
    items.push(done);
    calls.push({ callId, name, inputJson: input });
  }
  stream.complete(items.join(","));
  return stream.corpus("tools", { text: "", calls }, TOOLS_CHECKSUM);
}

class Writer {
  #events = [];

  begin() {
    const body = `"response":${response("in_progress", "", "null")}`;
    this.event("response.created", body);
    this.event("response.in_progress", body);
  }

  complete(output) {
    const usage =
      '{"input_tokens":1219,"input_tokens_details":{"cached_tokens":1024},"output_tokens":70000,' +
      '"output_tokens_details":{"reasoning_tokens":0},"total_tokens":71219}';
    this.event("response.completed", `"response":${response("completed", output, usage)}`);
  }

  event(type, fields) {
    const data = `{"type":"${type}",${fields},"sequence_number":${this.#events.length}}`;
    this.#events.push(`event: ${type}\ndata: ${data}\n\n`);
  }

  corpus(name, truth, checksum) {
    const encoder = new TextEncoder();
    const perEvent = this.#events.map((event) => encoder.encode(event));
    const body = new Uint8Array(Buffer.concat(perEvent));
    if (checksum !== undefined && fnv(body) !== checksum) {
      throw new Error(`the ${name} corpus has checksum 0x${fnv(body).toString(16)}, not 0x${checksum.toString(16)}`);
    }
    return { name, body, truth, events: perEvent.length, perEvent, per16KiB: split(body, 16 << 10) };
  }
}

/** Returns chunks with separate memory, as a network delivers them. */
function split(body, size) {
  const chunks = [];
  for (let at = 0; at < body.length; at += size) chunks.push(body.slice(at, at + size));
  return chunks;
}

function response(status, output, usage) {
  return (
    '{"id":"resp_0f33dc8eeb4f9cc000699ec454747c81978b3083c61be186da","object":"response","created_at":1772012628,' +
    `"status":"${status}","background":false,"error":null,"frequency_penalty":0.0,"incomplete_details":null,` +
    '"instructions":null,"max_output_tokens":null,"max_tool_calls":null,"model":"made-up-1",' +
    `"output":[${output}],"parallel_tool_calls":true,"presence_penalty":0.0,"previous_response_id":null,` +
    '"prompt_cache_key":null,"reasoning":{"effort":null,"summary":null},"safety_identifier":null,' +
    '"service_tier":"default","store":true,"temperature":1.0,"text":{"format":{"type":"text"},"verbosity":"medium"},' +
    `"tool_choice":"auto","tools":[],"top_logprobs":0,"top_p":1.0,"truncation":"disabled","usage":${usage},` +
    '"user":null,"metadata":{}}'
  );
}

function message(id, text) {
  const [status, content] = text === undefined ? ["in_progress", ""] : ["completed", outputText(text)];
  return `{"id":"${id}","type":"message","status":"${status}","content":[${content}],"role":"assistant"}`;
}

function outputText(text) {
  return `{"type":"output_text","annotations":[],"logprobs":[],"text":${JSON.stringify(text)}}`;
}

function fnv(bytes) {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

class Random {
  #state;

  constructor(seed) {
    this.#state = seed;
  }

  below(limit) {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x;
    return (x >>> 0) % limit;
  }

  pick(from) {
    return from[this.below(from.length)];
  }

  hex(length) {
    return this.#word(length, "0123456789abcdef");
  }

  letters(length) {
    return this.#word(length, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");
  }

  #word(length, alphabet) {
    let word = "";
    while (word.length < length) word += this.pick(alphabet);
    return word;
  }
}

export const TOOL_NAMES = ["read_file", "search", "edit_file", "run_in_terminal"];

// prettier-ignore
const ASCII_TOKENS = [
  " the",
  " a",
  " of",
  " to",
  " and",
  " in",
  " is",
  " it",
  " that",
  " for",
  " on",
  " with",
  " as",
  " are",
  " be",
  " this",
  " you",
  " not",
  " or",
  " each",
  " when",
  " which",
  " from",
  " can",
  " has",
  " one",
  " by",
  " all",
  " an",
  " stream",
  " event",
  " function",
  " value",
  " server",
  " returns",
  " buffer",
  " call",
  " because",
  " before",
  " between",
  " bytes",
  " chunk",
  " parser",
  " reading",
  " state",
  " first",
  " answer",
  " message",
  " token",
  ".",
  ",",
  ".",
  ",",
  ":",
  ";",
  "ing",
  "ed",
  "s",
  "ly",
  "er",
  " (",
  ")",
  " 1",
  "2",
  "=",
  " {",
  "}",
  " `",
  "`",
  "\n",
  "\n\n",
  ' "quoted"',
];
const TOKENS = [...ASCII_TOKENS, " na\u00efve", " \u2014", "\u2019s", "\u00fcber"];
