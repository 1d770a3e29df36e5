// Random: the only source of chance. Here: the interface and the seeded generator. Not here: the crypto one (real/).

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform bytes. */
  bytes(length: number): Uint8Array;
}

// What Kubernetes uses for generated names: no vowels, no digits that look like letters.
const NAME_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** Uniform integer in [0, below). */
export const randomInt = (random: Random, below: number): number => Math.floor(random.next() * below);

/** A name suffix as `generateName` makes it. @param length characters, upstream uses 5 */
export function nameSuffix(random: Random, length = 5): string {
  let suffix = "";
  for (let i = 0; i < length; i++) suffix += NAME_ALPHABET[randomInt(random, NAME_ALPHABET.length)];
  return suffix;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** A version 4 UUID. */
export function uuid(random: Random): string {
  const b = random.bytes(16);
  b[6] = ((b[6] as number) & 0x0f) | 0x40;
  b[8] = ((b[8] as number) & 0x3f) | 0x80;
  let text = "";
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) text += "-";
    text += HEX[b[i] as number];
  }
  return text;
}

/** A generator that gives the same sequence for the same seed on every machine (xoshiro128** seeded by splitmix32). */
export function seededRandom(seed: number): Random {
  let mix = seed >>> 0;
  const splitmix = (): number => {
    mix = (mix + 0x9e3779b9) >>> 0;
    let z = mix;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  };
  let [a, b, c, d] = [splitmix(), splitmix(), splitmix(), splitmix()];
  const rotl = (x: number, k: number): number => ((x << k) | (x >>> (32 - k))) >>> 0;
  const next32 = (): number => {
    const result = Math.imul(rotl(Math.imul(b, 5), 7), 9) >>> 0;
    const t = (b << 9) >>> 0;
    c = (c ^ a) >>> 0;
    d = (d ^ b) >>> 0;
    b = (b ^ c) >>> 0;
    a = (a ^ d) >>> 0;
    c = (c ^ t) >>> 0;
    d = rotl(d, 11);
    return result;
  };
  return {
    next: () => next32() / 0x1_0000_0000,
    bytes: (length) => {
      const bytes = new Uint8Array(length);
      for (let i = 0; i < length; i++) bytes[i] = next32() & 0xff;
      return bytes;
    },
  };
}
