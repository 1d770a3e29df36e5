// What of a change this updater covers: current and desired in, patches and refused paths out. Pure, answers in microseconds.
// Here: the walk over the rules. Not here: the rules (rules.ts), the hook's wire form (handlers.ts).
// Source: spec/runtime/kubeadm-updater.md section 3; spec/runtime/hooks.md section 2.2.
import type { FieldRule, RuleContext } from "./rules.ts";

type Plain = { readonly [key: string]: unknown };

export interface Operation {
  readonly op: "add" | "replace" | "remove";
  readonly path: string;
  readonly value?: unknown;
}

export interface Cover {
  /** RFC 6902, from the object's root. */
  readonly patch: readonly Operation[];
  /** Dotted paths that differ and are not covered, sorted. */
  readonly refused: readonly string[];
}

const isPlain = (x: unknown): x is Plain => typeof x === "object" && x !== null && !Array.isArray(x);
const at = (value: unknown, path: readonly string[]): unknown => path.reduce<unknown>((v, key) => (isPlain(v) ? v[key] : undefined), value);
const isEmpty = (x: unknown): boolean =>
  x === undefined || x === null || (Array.isArray(x) ? x.length === 0 : isPlain(x) && Object.values(x).every(isEmpty));

/** Deep equality in which an absent value, an empty list and an empty map are the same. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b || (isEmpty(a) && isEmpty(b))) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((x, i) => same(x, b[i]));
  if (!isPlain(a) || !isPlain(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => same(a[key], b[key]));
}

const pointer = (path: readonly string[]): string => path.map((p) => `/${p.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** The highest parent below `base` that holds nothing but what is removed, and that the desired object does not have. */
function emptiedBy(root: unknown, desired: unknown, path: readonly string[], base: number): readonly string[] {
  let depth = path.length;
  while (depth - 1 > base) {
    const parent = path.slice(0, depth - 1);
    const rest = at(root, parent);
    if (!isPlain(rest) || Object.keys(rest).length > 1 || at(desired, parent) !== undefined) break;
    depth--;
  }
  return path.slice(0, depth);
}

/** Sets or removes one value; missing parents are added with it, parents left empty go with it. */
function operation(root: unknown, desired: unknown, path: readonly string[], base: number): Operation | undefined {
  const value = at(desired, path);
  const present = at(root, path) !== undefined;
  if (value === undefined) return present ? { op: "remove", path: pointer(emptiedBy(root, desired, path, base)) } : undefined;
  if (present) return { op: "replace", path: pointer(path), value };
  let depth = path.length - 1;
  while (depth > 0 && !isPlain(at(root, path.slice(0, depth)))) depth--;
  const nested = path.slice(depth + 1).reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
  return { op: "add", path: pointer(path.slice(0, depth + 1)), value: nested };
}

function withValue(root: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const base = isPlain(root) ? root : {};
  const inner = withValue(base[key], rest, value);
  const { [key]: _old, ...others } = base;
  return inner === undefined ? others : { ...others, [key]: inner };
}

function differences(a: unknown, b: unknown, path: readonly string[]): readonly string[] {
  if (same(a, b)) return [];
  if ((isPlain(a) || a === undefined) && (isPlain(b) || b === undefined) && (isPlain(a) || isPlain(b))) {
    const keys = [...new Set([...Object.keys(a ?? {}), ...Object.keys(b ?? {})])];
    return keys.flatMap((key) => differences((a as Plain | undefined)?.[key], (b as Plain | undefined)?.[key], [...path, key]));
  }
  return [path.join(".")];
}

/** @param base where the compared part begins: `["spec"]` of an object, `["spec", "template", "spec"]` of a template
 *  @param only limits the comparison to these fields below `base`; absent = everything */
export function cover(
  current: object,
  desired: object,
  base: readonly string[],
  rules: readonly FieldRule[],
  context: RuleContext,
  only?: readonly string[],
): Cover {
  let patched: unknown = current;
  const patch: Operation[] = [];
  for (const rule of rules) {
    const path = [...base, ...rule.path];
    const [from, to] = [at(patched, path), at(desired, path)];
    if (same(from, to) || (rule.allows && !rule.allows(from, to, context))) continue;
    const op = operation(patched, desired, path, base.length);
    if (!op) continue;
    patch.push(op);
    patched =
      op.op === "remove" ? withValue(patched, emptiedBy(patched, desired, path, base.length), undefined) : withValue(patched, path, to);
  }
  const [left, wanted] = [at(patched, base), at(desired, base)];
  const refused = only
    ? only.flatMap((field) => differences(at(left, [field]), at(wanted, [field]), [...base, field]))
    : differences(left, wanted, base);
  return { patch, refused: [...refused].sort() };
}
