// A write that would only give new times to managedFields is none. Here: that comparison.
import type { KubeObject, ManagedFieldsEntry } from "../../api/meta/object.ts";
import { sameJson } from "../json-values.ts";

/** True when two objects differ at most in the times of their managedFields: then the old one should be kept, resourceVersion and all. */
export function sameButTimes(a: KubeObject, b: KubeObject): boolean {
  if (a === b) return true;
  if (a.metadata.managedFields === b.metadata.managedFields) return sameJson(a, b);
  return sameJson(timeless(a), timeless(b));
}

const timeless = (object: KubeObject): unknown => ({
  ...object,
  metadata: { ...object.metadata, managedFields: (object.metadata.managedFields ?? []).map(withoutTime) },
});

function withoutTime(entry: ManagedFieldsEntry): ManagedFieldsEntry {
  const { time: _, ...rest } = entry;
  return rest;
}
