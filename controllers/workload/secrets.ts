// Values of Secrets as text and back. Here: base64 of UTF-8 without platform APIs. Not here: which Secrets exist (../certificates).
import type { Secret } from "../../api/core/index.ts";

/** Base64 of the UTF-8 bytes of `text`. */
export const toBase64 = (text: string): string => bytesToBase64(new TextEncoder().encode(text));

export const fromBase64 = (base64: string): string => new TextDecoder().decode(base64ToBytes(base64));

function bytesToBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let i = 0; i < bytes.length; i += 8192) binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(binary);
}

export function base64ToBytes(base64: string): Uint8Array {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** The value of a key as text; undefined when the key is absent. */
export function textOf(secret: Secret, key: string): string | undefined {
  const value = secret.data?.[key];
  return value === undefined ? secret.stringData?.[key] : fromBase64(value);
}

/** `data` of a Secret from texts. */
export const dataOf = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, toBase64(value)]));
