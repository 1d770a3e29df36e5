// Variables of a ClusterClass with all their definitions, as status tells them. Here: merging, conflicts. Pure.
// Not here: asking extensions (class-controller.ts), whether a schema is a good one (admission). Source: spec/controllers/topology.md section 1.2.
import type { ClusterClassStatusVariable, ClusterClassVariable } from "../../api/clusterclass.ts";
import { sameJson } from "../../schema/json-values.ts";

export interface Definitions {
  /** `inline`, or the name of the patch that defines them. */
  readonly from: string;
  readonly variables: readonly ClusterClassVariable[];
}

/** Sorted by name; later definitions of a name are appended, and conflict when they differ from the first. */
export function mergedDefinitions(sources: readonly Definitions[]): readonly ClusterClassStatusVariable[] {
  const merged = new Map<string, ClusterClassStatusVariable>();
  for (const { from, variables } of sources) {
    for (const { name, ...definition } of variables) {
      const known = merged.get(name);
      const [first] = known?.definitions ?? [];
      const conflict = first !== undefined && !isSame(first, definition);
      merged.set(name, {
        name,
        definitionsConflict: known?.definitionsConflict === true || conflict,
        definitions: [...(known?.definitions ?? []), { from, ...definition }],
      });
    }
  }
  return [...merged.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

type Definition = Omit<ClusterClassVariable, "name">;

const isSame = (a: Definition, b: Definition): boolean => sameJson(withoutFalse(compared(a)), withoutFalse(compared(b)));
const compared = ({ required, schema, deprecatedV1Beta1Metadata }: Definition): unknown => ({
  required,
  schema,
  deprecatedV1Beta1Metadata,
});

/** A false that is written and one that is left out mean the same. */
function withoutFalse(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutFalse);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([, v]) => v !== false && v !== undefined);
  return Object.fromEntries(kept.map(([key, v]) => [key, withoutFalse(v)]));
}
