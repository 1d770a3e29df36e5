// Resource quantities in canonical form, as the API server writes them: `1000m` becomes `1`, `0.5` becomes `500m`.
// Source: k8s.io/apimachinery api/resource, "Quantity" (format rules in its package comment).

const DECIMAL = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"] as const;
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"] as const;
const NANO = 1_000_000_000n;

const FORM = /^([+-]?)(\d*)(?:\.(\d*))?(?:(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)|[eE]([+-]?\d{1,4}))?$/;
// Most quantities are written canonically already: a whole number that neither form shortens.
const PLAIN = /^[1-9]\d{0,2}$/;

interface Parsed {
  /** In units of 1e-9, rounded away from zero. */
  readonly nano: bigint;
  readonly form: "decimal" | "binary" | "exponent";
}

function parse(text: string): Parsed | undefined {
  const match = FORM.exec(text);
  if (!match) return undefined;
  const [, sign, whole = "", fraction = "", suffix = "", exponent] = match;
  if (whole === "" && fraction === "") return undefined;
  const binary = suffix.length === 2;
  let numerator = BigInt(`${whole}${fraction}` || "0");
  let denominator = 10n ** BigInt(fraction.length);
  if (binary) numerator *= 1024n ** BigInt(BINARY.indexOf(suffix as (typeof BINARY)[number]));
  const power = exponent === undefined ? (binary ? 0 : (DECIMAL.indexOf(suffix as (typeof DECIMAL)[number]) - 3) * 3) : Number(exponent);
  if (Math.abs(power) > 100) return undefined;
  if (power >= 0) numerator *= 10n ** BigInt(power);
  else denominator *= 10n ** BigInt(-power);
  numerator *= NANO;
  const nano = (numerator + denominator - 1n) / denominator;
  return { nano: sign === "-" ? -nano : nano, form: binary ? "binary" : exponent === undefined ? "decimal" : "exponent" };
}

/** Largest power of `base` (up to `stepsMax`) that divides the value. */
function shorten(value: bigint, base: bigint, stepsMax: number): [bigint, number] {
  let steps = 0;
  let rest = value;
  while (steps < stepsMax && rest !== 0n && rest % base === 0n) {
    rest /= base;
    steps += 1;
  }
  return [rest, steps];
}

// The same few quantities stand in thousands of objects, and each is read at every write.
const KNOWN_MAX = 4_096;
const known = new Map<string, string>();

/** @returns the canonical text; undefined when `value` is no quantity */
export function canonicalQuantity(value: string | number): string | undefined {
  const text = typeof value === "number" ? String(value) : value.trim();
  if (PLAIN.test(text)) return text;
  const before = known.get(text);
  if (before !== undefined) return before;
  const canonical = canonicalText(text);
  if (canonical !== undefined) {
    if (known.size >= KNOWN_MAX) known.clear();
    known.set(text, canonical);
  }
  return canonical;
}

function canonicalText(text: string): string | undefined {
  const parsed = parse(text);
  if (!parsed) return undefined;
  const { nano, form } = parsed;
  if (nano === 0n) return "0";
  const units = nano / NANO;
  if (form === "binary" && (units >= 1024n || units <= -1024n)) {
    const rounded = nano % NANO === 0n ? units : units + (nano > 0n ? 1n : -1n);
    const [rest, steps] = shorten(rounded, 1024n, BINARY.length - 1);
    return `${rest}${BINARY[steps] ?? ""}`;
  }
  const [rest, steps] = shorten(nano, 1000n, DECIMAL.length - 1);
  if (form === "exponent") return steps === 3 ? `${rest}` : `${rest}e${(steps - 3) * 3}`;
  return `${rest}${DECIMAL[steps] ?? ""}`;
}
