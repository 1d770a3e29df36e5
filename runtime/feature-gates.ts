// Feature gates as code asks for them. Here: the question. Not here: which gates exist and how flags are read (api/feature-gates.ts).

export interface FeatureGates {
  /** Throws for a gate nobody declared: a typing mistake must not read as "off". */
  enabled(name: string): boolean;
  /** All gates, sorted by name. */
  all(): readonly (readonly [name: string, enabled: boolean])[];
}

export class FeatureGateUnknown extends Error {
  readonly code = "FeatureGateUnknown";
}

/** Gates as a table says, such as what api's parseFeatureGates gives. */
export function fixedGates(values: Readonly<Record<string, boolean>>): FeatureGates {
  const on = new Map(Object.entries(values));
  return {
    enabled: (name) => {
      const value = on.get(name);
      if (value === undefined) throw new FeatureGateUnknown(`unknown feature gate ${name}; known are ${[...on.keys()].sort().join(", ")}`);
      return value;
    },
    all: () => [...on].sort(([a], [b]) => (a < b ? -1 : 1)),
  };
}
