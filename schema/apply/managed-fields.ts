// Putting managedFields into an object and taking them out. Here: nothing about what they say.
import type { KubeObject, ManagedFieldsEntry } from "../../api/meta/object.ts";

/** The object with these managedFields; without the field when there are none. */
export function withManagedFields<T extends KubeObject>(object: T, managedFields: readonly ManagedFieldsEntry[]): T {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata: managedFields.length === 0 ? metadata : { ...metadata, managedFields } };
}
