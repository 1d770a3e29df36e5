// JSON patch, RFC 6902, with the liberties that kube-apiserver takes: negative indexes, a first path segment that is not
// looked at, a replace or copy of a field that does not exist.
// Here: decoding and applying. Not here: which content type asks for it (the server).
import { type Fields, isMap, own, put, sameJson } from "../json-values.ts";
import { PatchError } from "./types.ts";

/** As kube-apiserver. */
const OPERATIONS_MAX = 10_000;

const refuse = (why: string): never => {
  throw new PatchError("unprocessable", why);
};

/**
 * All operations or none.
 * @returns a changed copy; neither argument is changed, parts of both are shared
 * @throws PatchError undecodable: no list of objects; tooLarge; unprocessable: a test failed, a path is missing, an operation is unknown
 */
export function jsonPatch(object: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch) || !patch.every(isMap)) throw new PatchError("undecodable", "a JSON patch must be a list of operations");
  if (patch.length > OPERATIONS_MAX) {
    const why = `The allowed maximum operations in a JSON patch is ${OPERATIONS_MAX}, got ${patch.length}`;
    throw new PatchError("tooLarge", why);
  }
  return patch.reduce((document: unknown, operation: Fields) => applyOne(document, operation), object);
}

function applyOne(document: unknown, operation: Fields): unknown {
  const { op } = operation;
  const path = pointerOf(operation, "path");
  switch (op) {
    case "add":
      return add(document, path, operandOf(operation));
    case "remove":
      return change(document, path, "remove", (parent, key) => without(parent, key, path.text));
    case "replace":
      return replace(document, path, operandOf(operation));
    case "move": {
      const from = pointerOf(operation, "from");
      const value = get(document, from, "move");
      return add(
        change(document, from, "move", (parent, key) => without(parent, key, from.text)),
        path,
        value,
      );
    }
    case "copy":
      return add(document, path, getOrNull(document, pointerOf(operation, "from"), "copy"));
    case "test":
      return test(document, path, operandOf(operation));
    default:
      return refuse(`Unexpected kind: ${String(op)}`);
  }
}

interface Pointer {
  readonly text: string;
  /** Unescaped, without the part before the first slash; undefined for a text without slash: such a path finds nothing. */
  readonly segments: readonly string[] | undefined;
}

function pointerOf(operation: Fields, name: "path" | "from"): Pointer {
  const text = own(operation, name);
  if (typeof text !== "string") return refuse(`operation ${String(operation.op)} has no ${name}`);
  const parts = text.split("/");
  const segments = parts.length < 2 ? undefined : parts.slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  return { text, segments };
}

const operandOf = (operation: Fields): unknown => own(operation, "value") ?? null;

const missing = (op: string, path: Pointer): never =>
  refuse(`${op} operation does not apply: doc is missing path: ${path.text}: missing value`);

type Parent = Fields | readonly unknown[];

/** Rebuilds the containers on the way to a path and lets `edit` make the last one anew. */
function change(document: unknown, path: Pointer, op: string, edit: (parent: Parent, key: string) => unknown): unknown {
  const { segments } = path;
  if (segments === undefined) return missing(op, path);
  const at = (value: unknown, depth: number): unknown => {
    const key = segments[depth] as string;
    if (!isMap(value) && !Array.isArray(value)) return missing(op, path);
    if (depth === segments.length - 1) return edit(value, key);
    const below = child(value, key);
    if (below === undefined) return missing(op, path);
    return withChild(value, key, at(below, depth + 1));
  };
  return at(document, 0);
}

const child = (parent: Parent, key: string): unknown => {
  if (!Array.isArray(parent)) return own(parent as Fields, key);
  const index = indexOf(key, parent.length);
  return index === undefined ? undefined : parent[index];
};

/** Negative indexes count from the end. @param length the first index that is too large */
function indexOf(key: string, length: number): number | undefined {
  if (!/^-?\d+$/.test(key)) return undefined;
  const index = Number(key) < 0 ? Number(key) + length : Number(key);
  return index >= 0 && index < length ? index : undefined;
}

function withChild(parent: Parent, key: string, value: unknown): unknown {
  if (Array.isArray(parent)) return parent.with(indexOf(key, parent.length) ?? refuse(`no item ${key}`), value);
  const copy: Record<string, unknown> = { ...(parent as Fields) };
  put(copy, key, value);
  return copy;
}

function without(parent: Parent, key: string, path: string): unknown {
  if (child(parent, key) === undefined) return refuse(`error in remove for path: '${path}': Unable to remove nonexistent key: ${key}`);
  if (Array.isArray(parent)) return parent.toSpliced(indexOf(key, parent.length) ?? 0, 1);
  const copy: Record<string, unknown> = { ...(parent as Fields) };
  delete copy[key];
  return copy;
}

function add(document: unknown, path: Pointer, value: unknown): unknown {
  return change(document, path, "add", (parent, key) => {
    if (!Array.isArray(parent)) return withChild(parent, key, value);
    const index = key === "-" ? parent.length : indexOf(key, parent.length + 1);
    if (index === undefined) return refuse(`error in add for path: '${path.text}': Unable to access invalid index: ${key}`);
    return parent.toSpliced(index, 0, value);
  });
}

function replace(document: unknown, path: Pointer, value: unknown): unknown {
  if (path.text === "") return isMap(value) || Array.isArray(value) ? value : refuse("replace operation value must be object or array");
  return change(document, path, "replace", (parent, key) => {
    const outside = Array.isArray(parent) && indexOf(key, parent.length) === undefined;
    // A field that is not there yet is set, as kube-apiserver does.
    return outside ? missing("replace", path) : withChild(parent, key, value);
  });
}

function get(document: unknown, path: Pointer, op: string): unknown {
  let at: unknown = document;
  for (const segment of path.segments ?? missing(op, path)) {
    at = isMap(at) || Array.isArray(at) ? child(at, segment) : undefined;
    if (at === undefined) return missing(op, path);
  }
  return at;
}

/** What a path names; null for a field that is not there, as kube-apiserver has it. What holds the field must exist. */
function getOrNull(document: unknown, path: Pointer, op: string): unknown {
  const last = path.segments?.at(-1);
  if (path.segments === undefined || last === undefined) return missing(op, path);
  const parent = get(document, { text: path.text, segments: path.segments.slice(0, -1) }, op);
  const value = isMap(parent) || Array.isArray(parent) ? child(parent, last) : missing(op, path);
  return value === undefined && Array.isArray(parent) ? missing(op, path) : (value ?? null);
}

function test(document: unknown, path: Pointer, value: unknown): unknown {
  const found = path.text === "" ? document : getOrNull(document, path, "test");
  return sameJson(found, value) ? document : refuse(`testing value ${path.text} failed: test failed`);
}
