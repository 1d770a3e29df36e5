// Chance from the operating system.
import { randomBytes } from "node:crypto";
import type { Random } from "../random.ts";

export const cryptoRandom: Random = {
  next: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
  bytes: (length) => Uint8Array.from(randomBytes(length)),
};
