// Quantities such as 1.5Gi. Here: exact values in billionths. Not here: CEL functions over them (library.ts).
// Source: k8s.io/apimachinery api/resource, which rounds up to billionths as well.

const NANO = 1_000_000_000n;
const BINARY = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const EXPONENT_MAX = 1_000; // a number with more digits than that is no quantity

/** A value in billionths. */
export class Quantity {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

function scaleOf(suffix: string): { readonly factor: bigint; readonly exponent: number } | undefined {
  const binary = BINARY.indexOf(suffix);
  if (binary >= 0) return { factor: 1024n ** BigInt(binary + 1), exponent: 0 };
  if (Object.hasOwn(DECIMAL, suffix)) return { factor: 1n, exponent: DECIMAL[suffix] as number };
  const found = /^[eE]([+-]?\d{1,4})$/.exec(suffix);
  if (!found || Math.abs(Number(found[1])) > EXPONENT_MAX) return undefined;
  return { factor: 1n, exponent: Number(found[1]) };
}

/** @returns undefined for a text that is no quantity */
export function parseQuantity(text: string): Quantity | undefined {
  const found = /^([+-]?)(\d*)(?:\.(\d*))?([eE][+-]?\d+|[A-Za-z]*)$/.exec(text);
  if (!found) return undefined;
  const [, sign, whole = "", fraction = "", suffix = ""] = found;
  const scale = scaleOf(suffix);
  if (!scale || (whole === "" && fraction === "")) return undefined;
  const digits = BigInt(whole + fraction || "0") * scale.factor * NANO;
  const exponent = scale.exponent - fraction.length;
  let nanos: bigint;
  if (exponent >= 0) nanos = digits * 10n ** BigInt(exponent);
  else {
    const divisor = 10n ** BigInt(-exponent);
    nanos = (digits + divisor - 1n) / divisor; // away from zero
  }
  return new Quantity(sign === "-" ? -nanos : nanos);
}

const isWhole = (q: Quantity): boolean => q.nanos % NANO === 0n;
/** The whole number, undefined when it is none or does not fit in 64 bits. */
export function asInteger(q: Quantity): bigint | undefined {
  const value = q.nanos / NANO;
  return isWhole(q) && BigInt.asIntN(64, value) === value ? value : undefined;
}
export const asFloat = (q: Quantity): number => Number(q.nanos) / 1e9;
export const ofInteger = (value: bigint): Quantity => new Quantity(value * NANO);
export const compareQuantities = (a: Quantity, b: Quantity): bigint => (a.nanos < b.nanos ? -1n : a.nanos > b.nanos ? 1n : 0n);
