// A hash of text for entity tags and cache keys. Here: FNV-1a, 64 bits in two halves. Not for secrets.

const PRIME = 0x01000193;

/** 16 hexadecimal digits; equal texts give equal hashes on every machine. */
export function textHash(text: string): string {
  let a = 0x811c9dc5;
  let b = 0xc9dc5118;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, PRIME);
    b = Math.imul(b ^ (code + i), PRIME);
  }
  return [a, b].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
}
