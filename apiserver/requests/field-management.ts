// Who owns which field after a write: the pipeline's view of schema/apply.
// Here: types of a kind's versions, what a path cannot write, faults as API errors. Not here: the algorithm.
import type { StatusCause } from "../../api/meta/status.ts";
import { apply, compileTyped, resetFieldsOf, type Typed, trackUpdate, withManagedFields } from "../../schema/apply/index.ts";
import type { JsonSchema } from "../../api/meta/schema.ts";
import { applyConflict, badRequest, plainError } from "../errors.ts";
import type { ApiObject } from "../object.ts";
import { apiVersionOfType, type Registry, type ResourceType } from "../registry.ts";

export interface FieldWrite {
  readonly type: ResourceType;
  readonly manager: string;
  readonly subresource: string;
  readonly nowMs: number;
}

export interface FieldManagement {
  /** The object with its managedFields after a create (live absent), replace or patch. */
  track(
    type: ResourceType,
    live: ApiObject | undefined,
    updated: ApiObject,
    manager: string,
    subresource: string,
    nowMs: number,
  ): ApiObject;
  /** Server-side apply. @returns the merged object with its managedFields, not defaulted. Throws ApiError. */
  apply(write: FieldWrite, live: ApiObject | undefined, config: ApiObject, force: boolean): ApiObject;
}

const ANY_OBJECT: JsonSchema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** Typed views are compiled once per schema and shared by all servers of the process. */
const views = new WeakMap<JsonSchema, Typed>();

function typedOf(type: ResourceType): Typed {
  const schema = type.schema ?? ANY_OBJECT;
  let typed = views.get(schema);
  if (!typed) {
    typed = compileTyped(schema);
    views.set(schema, typed);
  }
  return typed;
}

/** @param registry other versions of a kind, in which other managers may have written */
export function createFieldManagement(registry: Registry): FieldManagement {
  const schemasOf =
    (type: ResourceType) =>
    (apiVersion: string): Typed | undefined => {
      if (apiVersion === apiVersionOfType(type)) return typedOf(type);
      const other = registry.versions(type.group, type.plural).find((version) => apiVersionOfType(version) === apiVersion);
      return other && typedOf(other);
    };
  const tracked = ({ type, manager, subresource, nowMs }: FieldWrite) => ({
    schemas: schemasOf(type),
    apiVersion: apiVersionOfType(type),
    manager,
    subresource,
    nowMs,
    resetFields: resetFieldsOf(type.subresources.status === true, subresource),
  });
  return {
    track(type, live, updated, manager, subresource, nowMs) {
      const empty = live === undefined ? type.empty?.() : undefined;
      const managedFields = trackUpdate({ ...tracked({ type, manager, subresource, nowMs }), live, empty, updated });
      return withManagedFields(updated, managedFields);
    },
    apply(write, live, config, force) {
      try {
        return apply({ ...tracked(write), live, config, force }).object as ApiObject;
      } catch (error) {
        throw applyFault(error);
      }
    },
  };
}

function applyFault(error: unknown): unknown {
  const { code, message, causes } = error as { code?: string; message: string; causes?: readonly StatusCause[] };
  switch (code) {
    case "ApplyConflict":
      return applyConflict(message, causes ?? []);
    case "TypedValueError":
      return plainError(message);
    case "ManagedFieldsInBody":
      return badRequest(message);
    default:
      return error;
  }
}
