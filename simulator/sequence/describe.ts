// A change of an object in the words of its kind: what a reader of a rollout wants to see, on one line.
// Here: two versions in, short facts out; pure. Not here: who wrote it and when (log.ts).
import type { Condition, KubeObject } from "../../api/meta/object.ts";

type Plain = { readonly [key: string]: unknown };

const isPlain = (x: unknown): x is Plain => typeof x === "object" && x !== null && !Array.isArray(x);
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

// Told by the columns of the log, or of no interest in a story.
const SILENT_METADATA = new Set([
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "managedFields",
  "generation",
  "generateName",
  "selfLink",
]);
const SILENT_FIELDS = new Set(["apiVersion", "kind", "metadata"]);
/** Longer values are shown by their field name only. */
const VALUE_LENGTH_MAX = 60;

const shortKey = (key: string): string =>
  key
    .replace(/^in-place-updates\.internal\.cluster\.x-k8s\.io\//, "in-place/")
    .replace(/\.cluster\.x-k8s\.io\//, "/")
    .replace(/^cluster\.x-k8s\.io\//, "");

function shown(value: unknown): string {
  if (value === undefined) return "-";
  if (typeof value === "string") return value === "" ? '""' : value.length > VALUE_LENGTH_MAX || value.includes("\n") ? "…" : value;
  const text = JSON.stringify(value);
  return text.length > VALUE_LENGTH_MAX ? "…" : text;
}

function maps(name: string, before: Plain = {}, after: Plain = {}): readonly string[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys.flatMap((key) => {
    if (before[key] === after[key]) return [];
    if (after[key] === undefined) return [`-${name} ${shortKey(key)}`];
    return [`${before[key] === undefined ? "+" : ""}${name} ${shortKey(key)}${after[key] === "" ? "" : `=${shown(after[key])}`}`];
  });
}

const ownerText = (o: unknown): string => {
  const owner = o as { kind?: string; name?: string; controller?: boolean };
  return `${owner.kind}/${owner.name}${owner.controller ? " (controller)" : ""}`;
};

function metadata(before: Plain = {}, after: Plain = {}): readonly string[] {
  return Object.keys({ ...before, ...after })
    .sort()
    .flatMap((field) => {
      if (SILENT_METADATA.has(field) || same(before[field], after[field])) return [];
      if (field === "annotations") return maps("annotation", before[field] as Plain, after[field] as Plain);
      if (field === "labels") return maps("label", before[field] as Plain, after[field] as Plain);
      if (field === "ownerReferences") return [`owners ${((after[field] as unknown[]) ?? []).map(ownerText).join(", ") || "none"}`];
      if (field === "finalizers") return [`finalizers ${((after[field] as string[]) ?? []).map(shortKey).join(", ") || "none"}`];
      if (field === "deletionTimestamp") return ["deleting"];
      return [];
    });
}

// Conditions of built-in kinds may come without a message.
const shortNote = (message: string): string =>
  message === "" || message.length > VALUE_LENGTH_MAX || message.includes("\n") ? "" : ` (${message})`;

function conditions(before: readonly Condition[] = [], after: readonly Condition[] = []): readonly string[] {
  return after.flatMap((c) => {
    const old = before.find((o) => o.type === c.type);
    if (old?.status === c.status && old.reason === c.reason && old.message === c.message) return [];
    const note = shortNote(c.message ?? "");
    return [`${c.type}=${c.status}/${c.reason}${note}`];
  });
}

function fields(path: string, before: unknown, after: unknown): readonly string[] {
  if (same(before, after)) return [];
  if (path === "status.conditions") return conditions(before as Condition[], after as Condition[]);
  if (path.endsWith(".deprecated") || path === "data" || path === "stringData") return path === "data" ? ["data"] : [];
  const open = isPlain(after) && (isPlain(before) || before === undefined) && path.split(".").length < 3;
  if (open)
    return [...new Set([...Object.keys((before as Plain) ?? {}), ...Object.keys(after)])]
      .sort()
      .flatMap((key) => fields(`${path}.${key}`, (before as Plain | undefined)?.[key], after[key]));
  return [`${path}=${shown(after)}`];
}

// Counters and copies that follow from what other lines tell.
const FOLLOWS = /^status\.(observedGeneration|lastUpdated|selector|versions|version|labelSelector)=/;
/** Kinds whose objects are large and mostly of no interest: only these facts are told. */
const TOLD: Readonly<Record<string, RegExp>> = {
  Node: /^([+-]?(label|annotation) (node-role|owner-)|spec\.|Ready=|status\.nodeInfo\.kubeletVersion|deleting)/,
  Pod: /^(spec\.nodeName|Ready=|deleting)/,
};

/** @param before absent for a new object  @returns facts in a fixed order; empty when nothing worth telling changed */
export function describeChange(before: KubeObject | undefined, after: KubeObject): readonly string[] {
  const told = TOLD[after.kind];
  return changes(before, after).filter((fact) => !FOLLOWS.test(fact) && (told === undefined || told.test(fact)));
}

function changes(before: KubeObject | undefined, after: KubeObject): readonly string[] {
  const [old, now] = [(before ?? {}) as Plain, after as unknown as Plain];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((n) => !SILENT_FIELDS.has(n)).sort();
  return [
    ...metadata(old.metadata as Plain | undefined, now.metadata as Plain),
    ...names.flatMap((name) => fields(name, old[name], now[name])),
  ];
}
