// Base64 for runtimes that have neither Node's Buffer nor `Uint8Array.fromBase64`.

export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  // More arguments than this overflow the stack of some engines.
  for (let at = 0; at < bytes.length; at += 0x2000) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x2000));
  }
  return btoa(binary);
}

/** Throws if the text isn't valid base64. */
export function fromBase64(base64: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) {
    bytes[at] = binary.charCodeAt(at);
  }
  return bytes;
}
