// JSON merge patch, RFC 7386. Here: the merge. Not here: which content type asks for it (the server).
import { isMap, own, put, sameJson } from "../json-values.ts";
import { PatchError } from "./types.ts";

/**
 * @returns `object` itself when the patch changes nothing; neither argument is changed, parts of both are shared
 * @throws PatchError undecodable when the patch is no object
 */
export function mergePatch(object: unknown, patch: unknown): unknown {
  if (!isMap(patch)) throw new PatchError("undecodable", "a JSON merge patch must be an object");
  return merged(object, patch);
}

function merged(target: unknown, patch: unknown): unknown {
  // What takes the place of a map is taken as it is, as upstream has it.
  if (!isMap(patch)) return sameJson(target, patch) ? target : isMap(target) ? patch : withoutNulls(patch);
  if (!isMap(target)) return withoutNulls(patch);
  let changed: Record<string, unknown> | undefined;
  for (const key in patch) {
    const before = own(target, key);
    const after = patch[key] === null ? undefined : merged(before, patch[key]);
    if (after === before) continue;
    changed ??= { ...target };
    if (after === undefined) delete changed[key];
    else put(changed, key, after);
  }
  return changed ?? target;
}

/** Null says "absent" in a merge patch, also inside objects of lists that are taken whole, as upstream has it. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(withoutNulls);
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  if (!isMap(value)) return value;
  let changed: Record<string, unknown> | undefined;
  for (const key in value) {
    const before = value[key];
    const after = before === null ? undefined : withoutNulls(before);
    if (after === before) continue;
    changed ??= { ...value };
    if (after === undefined) delete changed[key];
    else put(changed, key, after);
  }
  return changed ?? value;
}
