// Label selectors. Here: whether one matches labels. Not here: what an absent selector means (callers differ), validation (webhooks),
// selectors in requests (apiserver/requests). Source: metav1.LabelSelector.
import type { LabelSelector } from "./object.ts";

export type Labels = Readonly<Record<string, string>>;
type Requirement = NonNullable<LabelSelector["matchExpressions"]>[number];

/** All pairs and all expressions must hold: an empty selector matches everything, an operator that nobody knows nothing. */
export const matchesSelector = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels = {}): boolean =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value) && matchExpressions.every((r) => holds(r, labels));

function holds({ key, operator, values = [] }: Requirement, labels: Labels): boolean {
  const value = labels[key];
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return false;
  }
}
