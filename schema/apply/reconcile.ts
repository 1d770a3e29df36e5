// Records from before a schema changed: what was owned piece by piece is owned as a whole once its type is atomic.
// Here: that one step over a set. Not here: the other way, where a whole keeps counting as the container only, as upstream has it.
import { type FieldSet, LEAF, node } from "./field-set.ts";
import type { Typed, TypeNode } from "./typed.ts";

/** @returns the set itself when it fits */
export const reconcile = (set: FieldSet, typed: Typed): FieldSet => fitted(set, typed.root);

function fitted(set: FieldSet, type: TypeNode): FieldSet {
  if (set.children === undefined) return set;
  if (type.kind === "map" && type.atomic) return LEAF;
  if (type.kind === "list" && type.list === "atomic") return LEAF;
  if (type.kind !== "map" && type.kind !== "list") return set;
  let changed: Map<string, FieldSet> | undefined;
  for (const [element, child] of set.children) {
    const below = typeBelow(type, element);
    const whole = below === undefined ? child : fitted(child, below);
    if (whole === child) continue;
    changed ??= new Map(set.children);
    changed.set(element, whole);
  }
  return changed === undefined ? set : node(set.member, changed);
}

function typeBelow(type: Extract<TypeNode, { kind: "map" | "list" }>, element: string): TypeNode | undefined {
  if (type.kind === "list") return type.items;
  return type.fields.get(element.slice(2))?.type ?? type.items;
}
