// Namespace selectors of ExtensionConfigs. Here: matching labels. Not here: validation (webhooks). Source: metav1.LabelSelector; client.md, section 4.
import type { LabelSelector } from "../api/meta/object.ts";

export type LabelMap = Readonly<Record<string, string>>;
type Expression = NonNullable<LabelSelector["matchExpressions"]>[number];

export const selectsAll = (selector: LabelSelector | undefined): boolean =>
  selector !== undefined && Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0;

/** An absent selector matches nothing; an empty one everything; an operator nobody knows nothing. */
export function selects(selector: LabelSelector | undefined, labels: LabelMap): boolean {
  if (!selector) return false;
  return (
    Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    (selector.matchExpressions ?? []).every((e) => holds(e, labels))
  );
}

function holds({ key, operator, values = [] }: Expression, labels: LabelMap): boolean {
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
