// Base64 of UTF-8 text, standard alphabet, padded. Here: both directions without platform code.
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

export function encodeBase64(text: string): string {
  let binary = "";
  for (const byte of encoder.encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** @throws Error when `text` is not base64, or does not decode to UTF-8 */
export function decodeBase64(text: string): string {
  try {
    return decoder.decode(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
  } catch {
    throw new Error("not base64 of UTF-8 text");
  }
}
