// Strategic merge patch of built-in kinds, by the patch markers of their schemas.
// Here: directives in maps ($patch, $retainKeys, $deleteFromPrimitiveList, $setElementOrder). Not here: merging of lists (strategic-list.ts).
// Source: Kubernetes' documentation of strategic merge patch; recorded cases.
import type { JsonSchema } from "../../api/meta/schema.ts";
import { type Fields, isMap, own, put } from "../json-values.ts";
import { badDirective, type ListMerge, mergeList, orderList, withoutFromList } from "./strategic-list.ts";
import { PatchError } from "./types.ts";

const DIRECTIVE = "$patch";
const RETAIN_KEYS = "$retainKeys";
const DELETE_FROM = "$deleteFromPrimitiveList/";
const SET_ORDER = "$setElementOrder/";

/**
 * @param schema of the whole object, with x-kubernetes-patch-strategy and -merge-key where they hold
 * @returns a changed copy; neither argument is changed, parts of both are shared
 * @throws PatchError
 */
export function strategicMergePatch(schema: JsonSchema, object: unknown, patch: unknown): unknown {
  if (!isMap(patch)) throw new PatchError("undecodable", "a strategic merge patch must be an object");
  return mergeMap(schema, isMap(object) ? object : {}, patch);
}

/** Objects of all kinds have it; schemas of kinds often leave it open. */
const METADATA: JsonSchema = {
  type: "object",
  properties: {
    finalizers: { type: "array", items: { type: "string" }, "x-kubernetes-patch-strategy": "merge" },
    ownerReferences: {
      type: "array",
      items: { type: "object" },
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "uid",
    },
  },
};

function below(schema: JsonSchema | undefined, field: string): JsonSchema | undefined {
  if (schema?.properties !== undefined && Object.hasOwn(schema.properties, field)) {
    const found = schema.properties[field];
    return field === "metadata" && found?.properties === undefined ? METADATA : found;
  }
  if (field === "metadata") return METADATA;
  return typeof schema?.additionalProperties === "object" ? schema.additionalProperties : undefined;
}

const strategies = (schema: JsonSchema | undefined): readonly string[] => schema?.["x-kubernetes-patch-strategy"]?.split(",") ?? [];

function mergeMap(schema: JsonSchema | undefined, object: Fields, patch: Fields): Fields {
  const directive = own(patch, DIRECTIVE);
  if (directive === "replace") return omit(patch, [DIRECTIVE]);
  if (directive === "delete") return {};
  if (directive !== undefined) throw badDirective(directive);
  const kept = retainKeys(object, patch);
  const result: Record<string, unknown> = { ...kept };
  const ordered = setOrders(schema, kept, patch, result);
  for (const key in patch) {
    if (key === RETAIN_KEYS || key.startsWith(SET_ORDER) || ordered.has(key)) continue;
    if (key.startsWith(DELETE_FROM)) deleteFromList(result, key.slice(DELETE_FROM.length), patch[key]);
    else mergeField(schema, result, key, patch[key]);
  }
  return result;
}

const omit = (map: Fields, keys: readonly string[]): Fields => {
  const copy: Record<string, unknown> = { ...map };
  for (const key of keys) delete copy[key];
  return copy;
};

function mergeField(schema: JsonSchema | undefined, result: Record<string, unknown>, key: string, value: unknown): void {
  const before = own(result, key);
  if (value === null) delete result[key];
  else if (isMap(value) && isMap(before)) {
    const field = below(schema, key);
    put(result, key, strategies(field).includes("replace") ? omit(value, [DIRECTIVE]) : mergeMap(field, before, value));
  } else if (Array.isArray(value) && Array.isArray(before)) put(result, key, mergedList(schema, key, before, value));
  else {
    const fresh = plain(value);
    if (fresh === undefined) delete result[key];
    else put(result, key, fresh);
  }
}

function mergedList(
  schema: JsonSchema | undefined,
  key: string,
  before: readonly unknown[],
  value: readonly unknown[],
): readonly unknown[] {
  const field = below(schema, key);
  return strategies(field).includes("merge") ? mergeList(listMerge(field), before, value) : value;
}

const listMerge = (field: JsonSchema | undefined): ListMerge => ({
  mergeKey: field?.["x-kubernetes-patch-merge-key"],
  mergeItem: (item, patch) => mergeMap(field?.items, item, patch),
  added: withoutDirectives,
});

/** $retainKeys: only the named fields of the object stay. */
function retainKeys(object: Fields, patch: Fields): Fields {
  const retained = own(patch, RETAIN_KEYS);
  if (retained === undefined) return object;
  if (!Array.isArray(retained)) throw badRetainKeys();
  for (const key in patch) {
    if (key === RETAIN_KEYS || patch[key] === null || key.startsWith(DELETE_FROM) || key.startsWith(SET_ORDER)) continue;
    if (!retained.includes(key)) throw badRetainKeys();
  }
  return omit(
    object,
    Object.keys(object).filter((key) => !retained.includes(key)),
  );
}

const badRetainKeys = (): PatchError =>
  new PatchError("undecodable", "Invalid patch format of retainKeys: it must be a list that names every field of its patch");

/** $setElementOrder lists: merges the list each of them names and puts it in order. @returns the fields that are done with */
function setOrders(schema: JsonSchema | undefined, object: Fields, patch: Fields, result: Record<string, unknown>): ReadonlySet<string> {
  const done = new Set<string>();
  for (const directive in patch) {
    if (!directive.startsWith(SET_ORDER)) continue;
    const key = directive.slice(SET_ORDER.length);
    const order = patch[directive];
    if (!Array.isArray(order)) throw new PatchError("undecodable", "Invalid patch format of setElementOrder list: it must be a list");
    const before = own(object, key);
    const change = own(patch, key);
    if (before === undefined && change === undefined) continue;
    if ((before !== undefined && !Array.isArray(before)) || (change !== undefined && !Array.isArray(change))) {
      throw new PatchError("internal", `${directive} names a field that is no list`);
    }
    // kube-apiserver cannot tell the kind of the entries then.
    if ((before?.length ?? 0) + (change?.length ?? 0) === 0)
      throw new PatchError("unprocessable", "no elements in any of the given slices");
    const field = below(schema, key);
    const merge = listMerge(field);
    const merged =
      change === undefined
        ? (before ?? [])
        : before === undefined
          ? (plain(change) as readonly unknown[])
          : mergedList(schema, key, before, change);
    put(result, key, orderList(merge, merged, order, before ?? [], change ?? []));
    done.add(key);
  }
  return done;
}

/** $deleteFromPrimitiveList: takes scalars out of a list, whatever its strategy. */
function deleteFromList(result: Record<string, unknown>, key: string, gone: unknown): void {
  if (!Array.isArray(gone)) throw new PatchError("undecodable", "Invalid patch format of primitive list: it must be a list");
  const before = own(result, key);
  if (!Array.isArray(before)) return;
  put(result, key, withoutFromList(before, gone));
}

const isDirective = (key: string): boolean =>
  key === DIRECTIVE || key === RETAIN_KEYS || key.startsWith(DELETE_FROM) || key.startsWith(SET_ORDER);

/**
 * A value that is new to its map: directives dropped, nulls taken as absent; undefined for a map that says what to do with a value there
 * is not, as kube-apiserver has it for `replace` too.
 */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => !(isMap(item) && own(item, DIRECTIVE) !== undefined)).map(plain);
  if (!isMap(value)) return value;
  if (own(value, DIRECTIVE) !== undefined) return undefined;
  const copy: Record<string, unknown> = {};
  for (const key in value) {
    const kept = isDirective(key) || value[key] === null ? undefined : plain(value[key]);
    if (kept !== undefined) put(copy, key, kept);
  }
  return copy;
}

/** An entry that is new to its list: nothing is done for its directives but leaving them out. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives);
  if (!isMap(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key in value) if (!isDirective(key)) put(copy, key, withoutDirectives(value[key]));
  return copy;
}
