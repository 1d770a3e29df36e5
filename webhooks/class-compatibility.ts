// May one ClusterClass take the place of another? For updates of a class, and for Clusters that change theirs.
// Here: references of templates. Source: spec/api/clusterclass.md section 5, rule 12.
import { type FieldError, forbidden, indexed } from "../schema/field.ts";
import { at, listAt, textAt } from "./draft.ts";

const groupOf = (apiVersion: string): string => (apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "");

/** Three texts; any of them says that there is one. */
export const isTemplateRefDefined = (ref: unknown): boolean =>
  ["apiVersion", "kind", "name"].some((field) => (textAt(ref, field) ?? "") !== "");

function refErrors(before: unknown, after: unknown, path: string): readonly FieldError[] {
  const text = (ref: unknown, field: string): string => textAt(ref, field) ?? "";
  const [group, newGroup] = [groupOf(text(before, "apiVersion")), groupOf(text(after, "apiVersion"))];
  const [kind, newKind] = [text(before, "kind"), text(after, "kind")];
  const why = (from: string, to: string): string =>
    `cannot change from ${JSON.stringify(from)} to ${JSON.stringify(to)}, since Clusters have objects of the old one: create another ClusterClass`;
  return [
    ...(group === newGroup ? [] : [forbidden(`${path}.apiVersion`, `the group ${why(group, newGroup)}`)]),
    ...(kind === newKind ? [] : [forbidden(`${path}.kind`, why(kind, newKind))]),
  ];
}

/** Classes of workers that are in both. */
const workerErrors = (before: unknown, after: unknown, field: string): readonly FieldError[] =>
  listAt(after, "spec", "workers", field).flatMap((worker, i) =>
    listAt(before, "spec", "workers", field)
      .filter((old) => textAt(old, "class") === textAt(worker, "class"))
      .flatMap((old) =>
        refErrors(
          at(old, "infrastructure", "templateRef"),
          at(worker, "infrastructure", "templateRef"),
          `${indexed(`spec.workers.${field}`, i)}.infrastructure.templateRef`,
        ),
      ),
  );

/** Names and versions of templates may differ, and the bootstrap templates of workers in everything. */
export function compatibilityErrors(before: unknown, after: unknown): readonly FieldError[] {
  const ref = (...path: readonly string[]): readonly FieldError[] =>
    refErrors(at(before, ...path, "templateRef"), at(after, ...path, "templateRef"), [...path, "templateRef"].join("."));
  return [
    ...ref("spec", "infrastructure"),
    ...ref("spec", "controlPlane"),
    ...ref("spec", "controlPlane", "machineInfrastructure"),
    ...workerErrors(before, after, "machineDeployments"),
    ...workerErrors(before, after, "machinePools"),
  ];
}
