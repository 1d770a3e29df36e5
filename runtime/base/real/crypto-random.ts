// Chance from the operating system. Bytes are fetched in stock: each fetch costs more than a hundred bytes do.
import { randomFillSync } from "node:crypto";
import type { Random } from "../random.ts";

const STOCK_BYTES = 4096;
const stock = Buffer.alloc(STOCK_BYTES);
let used = STOCK_BYTES;

/** Each byte is handed out once. */
function take(length: number): Uint8Array {
  if (length > STOCK_BYTES) return randomFillSync(new Uint8Array(length));
  if (used + length > STOCK_BYTES) {
    randomFillSync(stock);
    used = 0;
  }
  const bytes = Uint8Array.from(stock.subarray(used, used + length));
  stock.fill(0, used, used + length); // what became a token or a key stands here no longer
  used += length;
  return bytes;
}

export const cryptoRandom: Random = {
  next: () => Buffer.from(take(6)).readUIntBE(0, 6) / 2 ** 48,
  bytes: take,
};
