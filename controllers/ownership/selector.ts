// Label selectors of MachineDeployments and MachineSets. Here: plain pairs, matching, the text for scale. Not here: selectors in requests (apiserver).
// Source: spec/controllers/machinedeployment.md section 2.
import type { LabelSelector } from "../../api/meta/object.ts";

import type { Labels } from "../../api/meta/selector.ts";

export class SelectorInvalid extends Error {
  readonly code = "SelectorInvalid";
}

/** The selector as key=value pairs. @throws SelectorInvalid for an empty one, and for expressions other than `In` with one value */
export function selectorPairs(selector: LabelSelector | undefined): Labels {
  const pairs: Record<string, string> = { ...selector?.matchLabels };
  for (const { key, operator, values = [] } of selector?.matchExpressions ?? []) {
    const [value] = values;
    if (operator !== "In" || values.length !== 1 || value === undefined) {
      throw new SelectorInvalid(`selector expression on ${key} must be In with exactly one value: write it under matchLabels`);
    }
    pairs[key] = value;
  }
  if (Object.keys(pairs).length === 0)
    throw new SelectorInvalid("an empty selector would match every Machine: name labels under matchLabels");
  return pairs;
}

export const matches = (pairs: Labels, labels: Labels | undefined): boolean =>
  Object.entries(pairs).every(([key, value]) => labels?.[key] === value);

/** For mapping events: false instead of an error for a selector that selects nothing by our rules. */
export function selects(selector: LabelSelector | undefined, labels: Labels | undefined): boolean {
  try {
    return matches(selectorPairs(selector), labels);
  } catch {
    return false;
  }
}

/** `a=b,c=d`, sorted by key; what `status.selector` holds. */
export const selectorText = (pairs: Labels): string =>
  Object.entries(pairs)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
