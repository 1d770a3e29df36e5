// Feature gates: `--feature-gates=A=true,B=false`. Here: parsing, defaults, dependencies. Not here: which gates exist (api/feature-gates.ts).

export interface FeatureGate {
  readonly default: boolean;
  readonly stage: "Alpha" | "Beta" | "GA" | "Deprecated";
  /** Gates that must be on when this one is. */
  readonly needs?: readonly string[];
}

export interface FeatureGates {
  /** Throws for a gate nobody declared: a typing mistake must not read as "off". */
  enabled(name: string): boolean;
  /** All gates, sorted by name. */
  all(): readonly (readonly [name: string, enabled: boolean])[];
}

export class FeatureGateInvalid extends Error {
  readonly code = "FeatureGateInvalid";
}

/** @param known every gate of this program
 *  @param flag text of `--feature-gates`, empty for none
 *  @param defaults laid over the gates' own defaults
 *  @throws FeatureGateInvalid for an unknown gate, a value that is not true or false, or a gate without the one it needs */
export function parseFeatureGates(
  known: Readonly<Record<string, FeatureGate>>,
  flag = "",
  defaults: Readonly<Record<string, boolean>> = {},
): FeatureGates {
  const on = new Map<string, boolean>();
  for (const [name, gate] of Object.entries(known)) on.set(name, defaults[name] ?? gate.default);
  for (const [name, value] of assignments(flag, known)) on.set(name, value);
  for (const [name, gate] of Object.entries(known)) {
    const missing = on.get(name) ? (gate.needs ?? []).filter((n) => !on.get(n)) : [];
    if (missing.length > 0) {
      throw new FeatureGateInvalid(
        `feature gate ${name} needs ${missing.join(", ")}: add ${missing.map((n) => `${n}=true`).join(",")} or set ${name}=false`,
      );
    }
  }
  return fixedGates(on);
}

/** Gates as a map says; for tests and for programs that set them in code. */
export function fixedGates(values: ReadonlyMap<string, boolean> | Readonly<Record<string, boolean>>): FeatureGates {
  const on = new Map(values instanceof Map ? values : Object.entries(values));
  return {
    enabled: (name) => {
      const value = on.get(name);
      if (value === undefined) throw new FeatureGateInvalid(`unknown feature gate ${name}`);
      return value;
    },
    all: () => [...on].sort(([a], [b]) => (a < b ? -1 : 1)),
  };
}

function assignments(flag: string, known: Readonly<Record<string, FeatureGate>>): [string, boolean][] {
  const parts = flag
    .split(",")
    .map((p) => p.trim())
    .filter((p) => p !== "");
  return parts.map((part) => {
    const [name = "", value = "", ...rest] = part.split("=").map((x) => x.trim());
    if (name === "" || rest.length > 0 || !/^(true|false|t|f|1|0)$/i.test(value)) {
      throw new FeatureGateInvalid(`invalid feature gate "${part}": write Name=true or Name=false`);
    }
    if (!Object.hasOwn(known, name)) {
      throw new FeatureGateInvalid(`unknown feature gate ${name}; known are ${Object.keys(known).sort().join(", ")}`);
    }
    return [name, /^(true|t|1)$/i.test(value)];
  });
}
