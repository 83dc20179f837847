// Mocks of VS Code's classes, with the same shape.

export class LanguageModelTextPart {
  constructor(value) {
    this.value = value;
  }
}

export class LanguageModelThinkingPart {
  constructor(value, id, metadata) {
    this.value = value;
    this.id = id;
    this.metadata = metadata;
  }
}

export class LanguageModelToolCallPart {
  constructor(callId, name, input) {
    this.callId = callId;
    this.name = name;
    this.input = input;
  }
}

export class LanguageModelDataPart {
  constructor(data, mimeType) {
    this.data = data;
    this.mimeType = mimeType;
  }

  static image(data, mimeType) {
    return new LanguageModelDataPart(data, mimeType);
  }

  static json(value, mimeType = "text/x-json") {
    return new LanguageModelDataPart(new TextEncoder().encode(JSON.stringify(value)), mimeType);
  }

  static text(value, mimeType = "text/plain") {
    return new LanguageModelDataPart(new TextEncoder().encode(value), mimeType);
  }
}

export const vscode = {
  LanguageModelTextPart,
  LanguageModelThinkingPart,
  LanguageModelToolCallPart,
  LanguageModelDataPart,
};

export const quiet = { debug() {}, warn() {}, error() {} };

/** Returns parts as plain values and joins adjacent text: what a reader sees, regardless of chunks. */
export function shown(parts) {
  const result = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (part instanceof LanguageModelTextPart) {
      if (last?.text !== undefined) last.text += part.value;
      else result.push({ text: part.value });
    } else if (part instanceof LanguageModelThinkingPart) {
      if (last?.thinking !== undefined && part.metadata === undefined) last.thinking += part.value;
      else result.push({ thinking: part.value, ...(part.metadata && { metadata: part.metadata }) });
    } else if (part instanceof LanguageModelToolCallPart) {
      result.push({ call: part.name, id: part.callId, input: part.input });
    } else if (part instanceof LanguageModelDataPart) {
      const isText = /json|^text/.test(part.mimeType);
      const text = new TextDecoder().decode(part.data);
      result.push({ data: part.mimeType, content: isText ? (part.mimeType.includes("json") ? JSON.parse(text) : text) : [...part.data] });
    } else {
      throw new Error(`no part: ${String(part)}`);
    }
  }
  return result;
}
