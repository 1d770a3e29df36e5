// Building blocks of columns. Here: how lists, selectors, containers and counts read. Not here: which kind has which (builtin.ts).
import type { Json } from "../../api/meta/object.ts";
import type { ApiObject } from "../object.ts";
import type { PrinterColumn } from "../registry.ts";
import { age } from "./age.ts";

type Fields = Readonly<Record<string, unknown>>;
export type Cell = (object: ApiObject, nowMs: number) => Json;

export const NONE = "<none>";
export const UNSET = "<unset>";
export const UNKNOWN = "<unknown>";

export const fields = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});
export const items = (value: unknown): readonly Fields[] => (Array.isArray(value) ? (value as readonly Fields[]) : []);
export const texts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);
export const text = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? String(value) : "";
export const count = (value: unknown): number => (typeof value === "number" ? value : 0);
export const orNone = (value: unknown, none = NONE): string => (text(value) === "" ? none : text(value));
export const joined = (list: readonly string[], none = NONE): string => (list.length === 0 ? none : list.join(","));

/** The value at a path such as `spec.replicas`. */
export function at(object: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((value, part) => fields(value)[part], object);
}

export const sizeOf = (value: unknown): number => Object.keys(fields(value)).length;

export const column = (name: string, cell: Cell, type: PrinterColumn["type"] = "string"): PrinterColumn => ({ name, type, cell });
export const wide = (name: string, cell: Cell, type: PrinterColumn["type"] = "string"): PrinterColumn => ({
  name,
  type,
  priority: 1,
  cell,
});

/** A number at a path; zero when absent. */
export const number = (name: string, path: string): PrinterColumn => column(name, (o) => count(at(o, path)), "integer");
/** A text at a path. */
export const field = (name: string, path: string, none = ""): PrinterColumn => column(name, (o) => orNone(at(o, path), none));

export const NAME: PrinterColumn = {
  name: "Name",
  type: "string",
  format: "name",
  description: "Name must be unique within a namespace.",
  cell: (o) => o.metadata.name ?? "",
};
export const AGE: PrinterColumn = {
  name: "Age",
  type: "string",
  description: "The time since the object was created.",
  cell: (o, nowMs) => age(o.metadata.creationTimestamp, nowMs),
};

/** What kinds without columns of their own show beside the name. */
export const CREATED: PrinterColumn = {
  name: "Created At",
  type: "date",
  description: "The time at which the object was created.",
  cell: (o) => o.metadata.creationTimestamp ?? "",
};

/** `a=b,c in (d,e)` */
export function selectorText(selector: unknown): string {
  const { matchLabels, matchExpressions } = fields(selector);
  const labels = Object.entries(fields(matchLabels))
    .map(([key, value]) => `${key}=${text(value)}`)
    .sort();
  const expressions = items(matchExpressions).map((e) => {
    const values = [...texts(e.values)].sort().join(",");
    if (e.operator === "Exists") return text(e.key);
    if (e.operator === "DoesNotExist") return `!${text(e.key)}`;
    return `${text(e.key)} ${e.operator === "In" ? "in" : "notin"} (${values})`;
  });
  return joined([...labels, ...expressions]);
}

export const labelsText = (labels: unknown): string =>
  joined(
    Object.entries(fields(labels))
      .map(([key, value]) => `${key}=${text(value)}`)
      .sort(),
  );

/** Names and images of the containers of a template. */
export const containerColumns = (path: string): readonly PrinterColumn[] => [
  wide("Containers", (o) =>
    joined(
      items(at(o, path)).map((c) => text(c.name)),
      "",
    ),
  ),
  wide("Images", (o) =>
    joined(
      items(at(o, path)).map((c) => text(c.image)),
      "",
    ),
  ),
];

const ACCESS: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};
export const accessText = (modes: unknown): string =>
  Object.keys(ACCESS)
    .filter((mode) => texts(modes).includes(mode))
    .map((mode) => ACCESS[mode])
    .join(",");
