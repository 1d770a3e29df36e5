// Sets of fields, as managedFields keep them: a tree whose nodes say "this field" and "below it".
// Here: the tree and set operations; all pure, results share parts with what they were made from.
// Not here: what a path element means (path-element.ts), the wire form (fields-v1.ts).

/**
 * One field and what is below it. Path elements are in their wire form: `f:name`, `k:{"name":"a"}`, `v:"x"`, `i:0`.
 * A set is a node too: its root, which is not a member itself. No node but an empty root has neither `member` nor children.
 */
export interface FieldSet {
  readonly member: boolean;
  readonly children: ReadonlyMap<string, FieldSet> | undefined;
}

export const EMPTY: FieldSet = { member: false, children: undefined };
/** A member with nothing below it. */
export const LEAF: FieldSet = { member: true, children: undefined };

const MEMBER_ONLY = LEAF;

export const isEmpty = (set: FieldSet): boolean => !set.member && set.children === undefined;

/** The one place where nodes are made: an empty map of children never gets into a tree. */
export function node(member: boolean, children: ReadonlyMap<string, FieldSet> | undefined): FieldSet {
  if (children === undefined || children.size === 0) return member ? MEMBER_ONLY : EMPTY;
  return { member, children };
}

/** @param paths each a list of path elements in wire form */
export function fieldSet(...paths: readonly (readonly string[])[]): FieldSet {
  let set = EMPTY;
  for (const path of paths)
    set = union(
      set,
      path.reduceRight((below, element) => node(false, new Map([[element, below]])), LEAF),
    );
  return set;
}

export function has(set: FieldSet, path: readonly string[]): boolean {
  let at: FieldSet | undefined = set;
  for (const element of path) {
    at = at.children?.get(element);
    if (at === undefined) return false;
  }
  return at.member;
}

export function equal(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  if (a.member !== b.member || a.children?.size !== b.children?.size) return false;
  if (a.children === undefined || b.children === undefined) return true;
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    if (other === undefined || !equal(child, other)) return false;
  }
  return true;
}

/** @returns `a` itself when `b` adds nothing */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a;
  if (isEmpty(a)) return b;
  const member = a.member || b.member;
  let children = a.children;
  if (children === undefined) children = b.children;
  else if (b.children !== undefined) {
    let changed: Map<string, FieldSet> | undefined;
    for (const [element, child] of b.children) {
      const mine = children.get(element);
      const merged = mine === undefined ? child : union(mine, child);
      if (merged !== mine) {
        changed ??= new Map(children);
        changed.set(element, merged);
      }
    }
    children = changed ?? children;
  }
  return member === a.member && children === a.children ? a : node(member, children);
}

/** Members of `a` that are not members of `b`. @returns `a` itself when nothing goes */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return EMPTY;
  const member = a.member && !b.member;
  const children = withoutChildren(a.children, b.children, difference);
  return member === a.member && children === a.children ? a : node(member, children);
}

/** `a` without members of `b` and without all that is below them. @returns `a` itself when nothing goes */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  if (b.member) return EMPTY;
  const children = withoutChildren(a.children, b.children, recursiveDifference);
  return children === a.children ? a : node(a.member, children);
}

function withoutChildren(
  a: FieldSet["children"],
  b: FieldSet["children"],
  minus: (a: FieldSet, b: FieldSet) => FieldSet,
): FieldSet["children"] {
  if (a === undefined || b === undefined) return a;
  let changed: Map<string, FieldSet> | undefined;
  for (const [element, other] of b) {
    const mine = a.get(element);
    if (mine === undefined) continue;
    const left = minus(mine, other);
    if (left === mine) continue;
    changed ??= new Map(a);
    if (isEmpty(left)) changed.delete(element);
    else changed.set(element, left);
  }
  return changed ?? a;
}

/** Members of both. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  if (a.children === undefined || b.children === undefined) return a.member && b.member ? LEAF : EMPTY;
  const [small, large] = a.children.size <= b.children.size ? [a.children, b.children] : [b.children, a.children];
  let children: Map<string, FieldSet> | undefined;
  for (const [element, child] of small) {
    const other = large.get(element);
    if (other === undefined) continue;
    const both = intersection(child, other);
    if (isEmpty(both)) continue;
    children ??= new Map();
    children.set(element, both);
  }
  return node(a.member && b.member, children);
}

/** Members that have no members below them. */
export function leaves(set: FieldSet): FieldSet {
  if (set.children === undefined) return set;
  const children = new Map<string, FieldSet>();
  for (const [element, child] of set.children) children.set(element, leaves(child));
  return node(false, children);
}

/** Calls `visit` with the path of each member, in no special order. The path is reused: copy it to keep it. */
export function forEachMember(set: FieldSet, visit: (path: readonly string[]) => void, path: string[] = []): void {
  if (set.member) visit(path);
  if (set.children === undefined) return;
  for (const [element, child] of set.children) {
    path.push(element);
    forEachMember(child, visit, path);
    path.pop();
  }
}
