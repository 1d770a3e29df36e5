// Namespace selectors of ExtensionConfigs. Here: what an absent and an empty one mean. Not here: matching
// (api/meta), validation (webhooks). Source: client.md, section 4.
import type { LabelSelector } from "../api/meta/object.ts";
import { type Labels, matchesSelector } from "../api/meta/selector.ts";

export const selectsAll = (selector: LabelSelector | undefined): boolean =>
  selector !== undefined && Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0;

/** An absent selector matches nothing. */
export const selects = (selector: LabelSelector | undefined, labels: Labels): boolean =>
  selector !== undefined && matchesSelector(selector, labels);
