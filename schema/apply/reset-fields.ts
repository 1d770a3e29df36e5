// Which fields a path of the API cannot write. Here: the sets. Not here: taking those fields back to their old values (the server).
import { type FieldSet, fieldSet } from "./field-set.ts";

const STATUS = fieldSet(["f:status"]);
const ALL_BUT_STATUS = fieldSet(["f:apiVersion"], ["f:kind"], ["f:metadata"], ["f:spec"]);

/**
 * @param hasStatus whether the kind serves a status subresource
 * @param subresource empty for the object itself
 */
export function resetFieldsOf(hasStatus: boolean, subresource = ""): FieldSet | undefined {
  if (!hasStatus) return undefined;
  if (subresource === "") return STATUS;
  return subresource === "status" ? ALL_BUT_STATUS : undefined;
}
