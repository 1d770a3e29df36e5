// Custom resources as a kind: rules beyond their schema. Here: replicas that scaling needs, names of finalizers.
// Not here: the schema (schema/), metadata (../requests/metadata.ts). Source: apiextensions custom resource strategy.
import type { StatusCause } from "../../api/meta/status.ts";
import { fieldInvalid } from "../errors.ts";
import type { ApiObject } from "../object.ts";
import type { Strategy } from "../registry.ts";
import type { CrdScale } from "./definition.ts";

const REPLICAS_MAX = 2 ** 31 - 1;
const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

type Warn = (text: string) => void;

/** The value at a path of plain fields; undefined when there is none. */
function at(object: ApiObject, path: string): unknown {
  let value: unknown = object;
  for (const name of path.split(".").slice(1)) {
    if (typeof value !== "object" || value === null) return value === undefined ? undefined : NaN;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

function replicasCauses(object: ApiObject, path: string): readonly StatusCause[] {
  const value = at(object, path);
  if (value === undefined) return [];
  if (typeof value !== "number" || !Number.isInteger(value)) return [fieldInvalid(path, value, "must be a whole number")];
  if (value < 0) return [fieldInvalid(path, value, "should be a non-negative integer")];
  return value > REPLICAS_MAX ? [fieldInvalid(path, value, `should be less than or equal to ${REPLICAS_MAX}`)] : [];
}

function statusCauses(object: ApiObject, { statusReplicasPath, labelSelectorPath }: CrdScale): readonly StatusCause[] {
  const causes = [...replicasCauses(object, statusReplicasPath ?? "")];
  const selector = labelSelectorPath ? at(object, labelSelectorPath) : undefined;
  if (labelSelectorPath && selector !== undefined && typeof selector !== "string")
    causes.push(fieldInvalid(labelSelectorPath, selector, "must be a string"));
  return causes;
}

/** New finalizers that could clash with those of others. */
function warnOfFinalizers(object: ApiObject, old: ApiObject | undefined, warn: Warn): void {
  const known = old?.metadata.finalizers ?? [];
  const added = (object.metadata.finalizers ?? []).filter((name) => !known.includes(name) && !name.includes("/"));
  for (const name of [...new Set(added)].sort()) {
    if (STANDARD_FINALIZERS.has(name)) continue;
    const what = name.includes(".") ? "finalizer name including a path (/)" : "finalizer name";
    warn(
      `metadata.finalizers: ${JSON.stringify(name)}: prefer a domain-qualified ${what} to avoid accidental conflicts with other finalizer writers`,
    );
  }
}

/** @param scale the scale subresource of the version, whose fields must be replicas */
export function customStrategy(scale: CrdScale | undefined): Strategy {
  const causes = (object: ApiObject): readonly StatusCause[] =>
    scale ? [...replicasCauses(object, scale.specReplicasPath ?? ""), ...statusCauses(object, scale)] : [];
  return {
    generation: "allButStatusAndMetadata",
    generationOnDelete: true,
    allowUnconditionalUpdate: false,
    validate(object, { warn }) {
      warnOfFinalizers(object, undefined, warn);
      return causes(object);
    },
    validateUpdate(object, old, { warn, subresource }) {
      if (subresource === "status") return scale ? statusCauses(object, scale) : [];
      warnOfFinalizers(object, old, warn);
      return causes(object);
    },
  };
}
