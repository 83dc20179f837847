// Made-up records of requests, as an agent would cause them. Always the same for the same numbers.

const DAY_MS = 86_400_000;
const MODELS = ["anthropic/claude-sonnet-4.5", "openai/gpt-5", "google/gemini-3-pro", "zai/glm-4.6"];
const TOOLS = ["read_file", "list_dir", "grep_search", "run_in_terminal", "apply_patch", "fetch_webpage", "manage_todo_list", "get_errors"];

/** @param {number} seed */
function random(seed) {
  let state = seed;
  return (/** @type {number} */ below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/**
 * Returns records of conversations in which an agent works: questions, rounds of tools, sub-agents, summaries, titles,
 * failures and every kind of money. The last one ends at `end`.
 * @param {number} count @param {number} end milliseconds since 1970
 */
export function records(count, end) {
  const next = random(7);
  const made = [];
  let conversation = 0;
  let history = /** @type {any[]} */ ([]);
  let parent = /** @type {string | null} */ (null);
  const tools = TOOLS.map((name, index) => piece("tool", "tools", name, `tool-${name}`, 150 + index * 40));
  for (let number = 0; number < count; number++) {
    if (number % 25 === 0) {
      conversation += 1;
      history = [];
      parent = null;
    }
    const place = number % 25;
    const kind = place === 1 ? "utility" : place % 11 === 7 ? "subAgent" : place === 20 ? "summary" : "main";
    const isQuestion = place % 6 === 0;
    const model = MODELS[(conversation + (place > 15 ? 1 : 0)) % MODELS.length];
    const id = `request-${number}`;
    const tool = TOOLS[next(TOOLS.length)];
    const fresh = isQuestion
      ? [piece("message", "new", "user", `question-${number}`, 20 + next(400))]
      : [piece("call", "new", tool, `call-${number}`, 30), piece("result", "new", tool, `result-${number}`, 100 + next(3000))];
    const pieces = [
      piece("frame", "system", null, "frame", 8),
      ...tools,
      piece("system", "system", null, `system-${Math.floor(number / 100)}`, 5200),
      ...history.map((one) => ({ ...one, group: "history" })),
      ...fresh,
    ];
    const input = pieces.reduce((sum, { tokens }) => sum + tokens, 0);
    const cached = place % 7 === 3 ? 0 : Math.floor(input * 0.8);
    const output = 50 + next(900);
    const failed = place === 13;
    const cost = { usd: Math.round(input * 3 + output * 15) / 1e6, basis: ["reported", "computed", "play"][conversation % 3] };
    const sentMs = place === 9 ? 2100 : 4;
    const firstByteMs = sentMs + 200 + next(900);
    const endMs = firstByteMs + 1500 + output * 12;
    made.push({
      version: 1,
      id,
      conversation: `conversation-${conversation}`,
      parent,
      kind,
      purpose: kind === "utility" ? "chat title" : "conversation",
      model,
      origin: "https://gateway.example",
      effort: place % 4 === 0 ? "high" : null,
      mustCall: false,
      startedMs: end - (count - number) * Math.floor((20 * DAY_MS) / count),
      timeline: {
        sentMs,
        firstByteMs,
        firstThinkingMs: failed ? null : firstByteMs + 50,
        firstTextMs: failed ? null : firstByteMs + 900,
        calls: failed || place % 6 === 5 ? [] : [{ name: tool, ms: endMs - 200 }],
        endMs,
      },
      pieces,
      usage: failed
        ? { input: null, cached: null, cacheWrite: null, output: null, reasoning: null }
        : { input, cached, cacheWrite: null, output, reasoning: Math.floor(output / 3) },
      cost: failed ? null : cost,
      forecast: { input: input + 12, cached, output: 400, cost: { low: cost.usd / 2, expected: cost.usd, high: cost.usd * 3 } },
      lens: null,
      retries: place === 9 ? [{ ms: 2000, why: "rateLimited" }] : [],
      routing: { model, provider: "bedrock", tried: place === 9 ? ["anthropic", "bedrock"] : ["bedrock"], generationId: `gen-${number}` },
      notes: place === 4 ? [{ kind: "leftOut", count: 2 }] : [],
      finish: failed ? { status: "failed", reason: null, failure: "serverDown" } : { status: "completed", reason: null, failure: null },
    });
    if (kind === "main") {
      parent = id;
      history.push(...fresh, piece("message", "new", "assistant", `answer-${number}`, output));
    }
  }
  return made;
}

/** @param {string} kind @param {string} group @param {string | null} name @param {string} fingerprint @param {number} tokens */
function piece(kind, group, name, fingerprint, tokens) {
  return { kind, group, name, fingerprint, images: null, tokens };
}
