// Patches in answers: what one does to an object. Here: decoding, applying, keeping only what a hook may touch. Not here: the verdict (coverage.ts).
// Source: hooks.md, section 2.2.
import type { HookPatch } from "../api/hooks/index.ts";
import { isMap, sameJson } from "../schema/json-values.ts";
import { jsonPatch, mergePatch } from "../schema/patch/index.ts";
import { decodeBase64 } from "./base64.ts";
import { HookError, textOf } from "./errors.ts";

export type FieldPath = readonly string[];

/** Applies a patch to a copy; only the allowed paths count, the rest is dropped in silence. A path that the patch removed keeps its old value.
 *  @param who for error texts, e.g. `infrastructureMachinePatch`
 *  @returns `object` itself when there is nothing to do  @throws HookError HookPatchInvalid */
export function applyHookPatch<T extends object>(object: T, patch: HookPatch | undefined, allowed: readonly FieldPath[], who: string): T {
  const document = decoded(patch, who);
  if (document === undefined) return object;
  let patched: unknown;
  try {
    patched = patch?.patchType === "JSONPatch" ? jsonPatch(object, document) : mergePatch(object, document);
  } catch (e) {
    throw invalid(who, textOf(e));
  }
  return allowed.reduce<T>((result, path) => {
    const value = valueAt(patched, path);
    return value === undefined || sameJson(value, valueAt(object, path)) ? result : (withValue(result, path, value) as T);
  }, object);
}

const invalid = (who: string, why: string): HookError => new HookError("HookPatchInvalid", `${who} cannot be applied: ${why}`);

/** The patch document; undefined when there is nothing to do. */
function decoded(patch: HookPatch | undefined, who: string): unknown {
  const text = patch?.patch ?? "";
  if (!patch?.patchType) {
    if (text === "") return undefined;
    throw invalid(who, "patchType is not set");
  }
  if (patch.patchType !== "JSONPatch" && patch.patchType !== "JSONMergePatch") {
    throw invalid(who, `unknown patchType ${JSON.stringify(patch.patchType)}, wanted JSONPatch or JSONMergePatch`);
  }
  let document: unknown;
  try {
    const json = decodeBase64(text).trim();
    if (json === "" && patch.patchType === "JSONMergePatch") return undefined;
    document = JSON.parse(json);
  } catch (e) {
    throw invalid(who, `the patch must be base64 of JSON text: ${textOf(e)}`);
  }
  // A document of the other form is a mistake, also when it is empty: taken for "no change" it would read as "cannot", and replace machines.
  if (patch.patchType === "JSONPatch") {
    if (!Array.isArray(document)) throw invalid(who, "a JSONPatch must be a list of operations");
    return document.length === 0 ? undefined : document;
  }
  if (!isMap(document)) throw invalid(who, "a JSONMergePatch must be an object");
  return Object.keys(document).length === 0 ? undefined : document;
}

export function valueAt(object: unknown, path: FieldPath): unknown {
  let value = object;
  for (const key of path) value = isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

export function withValue(object: unknown, [key, ...rest]: FieldPath, value: unknown): unknown {
  if (key === undefined) return value;
  const fields = isMap(object) ? object : {};
  return { ...fields, [key]: withValue(fields[key], rest, value) };
}
