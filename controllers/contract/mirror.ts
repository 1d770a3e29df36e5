// A condition that another object reports, taken over. Here: one pure function, shared by Machine and Cluster.
// Not here: what is said when the object is not there (their conditions.ts). Source: spec/controllers/machine.md 7.1, cluster.md 10.
import type { Condition } from "../../api/meta/object.ts";
import { because, type Because } from "../../runtime/conditions.ts";
import { type Fields, listAt, type Unstructured } from "./contract.ts";
import type { Referenced } from "./read.ts";

export interface Mirror {
  readonly referenced: Referenced | undefined;
  /** Type of the condition to take over. */
  readonly source: string;
  /** Reasons when the object gives none; also of a condition made from the flag. */
  readonly good: string;
  readonly bad: string;
  /** The object has done its part, now or before; stands in for a condition that it does not report. */
  readonly flag: boolean;
}

const STATUSES: readonly unknown[] = ["True", "False", "Unknown"];

/** The condition of this type as the object reports it, whatever its shape. */
export const reportedCondition = (object: Unstructured, type: string): Fields | undefined =>
  listAt(object, "status.conditions").find((c) => c.type === type);

/** @returns nothing when there is no object */
export function mirrored({ referenced, source, good, bad, flag }: Mirror): Because | undefined {
  if (!referenced?.object) return undefined;
  const { kind } = referenced.ref;
  const condition = reportedCondition(referenced.object, source);
  if (!condition) return flag ? because(good, "", "True") : because(bad, `${kind} has not reported ${source} yet`);
  if (!STATUSES.includes(condition.status)) {
    return because("InvalidConditionReported", `Condition ${source} of ${kind} has no valid status`, "Unknown");
  }
  const status = condition.status as Condition["status"];
  const fallback = { True: good, False: bad, Unknown: `${good}Unknown` }[status];
  return because(textIn(condition, "reason") || fallback, textIn(condition, "message"), status);
}

const textIn = (fields: Fields, key: string): string => {
  const value = fields[key];
  return typeof value === "string" ? value : "";
};
