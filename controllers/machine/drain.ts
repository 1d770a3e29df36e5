// Draining a Node: what happens to each Pod now, later or never, as a pure plan. Here: filters, drain rules, order, the text about it.
// Not here: listing and evicting (drain-steps.ts). Source: spec/controllers/machine.md section 6.1.
import type { Cluster } from "../../api/cluster.ts";
import type { Pod } from "../../api/core/index.ts";
import type { Machine } from "../../api/machine.ts";
import type { KubeObject, LabelSelector } from "../../api/meta/object.ts";
import { type Labels, matchesSelector } from "../../api/meta/selector.ts";
import { podDrainLabel } from "../../api/names.ts";
import { parseTimestamp } from "../../runtime/base/clock.ts";
import { controllerOf } from "../ownership/owners.ts";

export type DrainBehavior = "Drain" | "Skip" | "WaitCompleted";

/** cluster.x-k8s.io MachineDrainRule, the fields that count. */
export interface MachineDrainRule extends KubeObject {
  readonly spec?: {
    readonly drain?: { readonly behavior?: DrainBehavior; readonly order?: number };
    readonly machines?: readonly { readonly selector?: LabelSelector; readonly clusterSelector?: LabelSelector }[];
    readonly pods?: readonly { readonly selector?: LabelSelector; readonly namespaceSelector?: LabelSelector }[];
  };
}

export interface DrainView {
  readonly machine: Machine;
  readonly cluster: Cluster;
  readonly pods: readonly Pod[];
  /** Rules of the Machine's namespace. */
  readonly rules: readonly MachineDrainRule[];
  /** `namespace/name` of the DaemonSets that exist. */
  readonly daemonSets: ReadonlySet<string>;
  readonly namespaceLabels: ReadonlyMap<string, Labels>;
  /** The kubelet does not answer: Pods that were to go need not be waited for. */
  readonly unreachable: boolean;
  readonly nowMs: number;
}

export interface PodDecision {
  readonly pod: Pod;
  readonly behavior: DrainBehavior;
  readonly order: number;
}

export interface DrainPlan {
  /** Of the lowest order, sorted by namespace and name. */
  readonly evict: readonly Pod[];
  readonly waitFor: readonly Pod[];
  readonly terminating: readonly Pod[];
  readonly later: readonly Pod[];
}

const DELETION_PATIENCE_MS = 1_000;
const MIRROR_ANNOTATION = "kubernetes.io/config.mirror";

export const podText = (pod: Pod): string => `${pod.metadata.namespace}/${pod.metadata.name}`;
const isFinished = (pod: Pod): boolean => pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";

/** First filter that hits decides. */
export function decidePod(pod: Pod, view: DrainView): PodDecision {
  const skip: PodDecision = { pod, behavior: "Skip", order: 0 };
  const { deletionTimestamp } = pod.metadata;
  if (view.unreachable && deletionTimestamp && view.nowMs - parseTimestamp(deletionTimestamp) > DELETION_PATIENCE_MS) return skip;
  const controller = controllerOf(pod);
  const daemonSet = controller?.kind === "DaemonSet" && `${pod.metadata.namespace}/${controller.name}`;
  if (daemonSet && !isFinished(pod) && view.daemonSets.has(daemonSet)) return skip;
  if (pod.metadata.annotations?.[MIRROR_ANNOTATION] !== undefined) return skip;
  const decision = byLabel(pod) ?? byRule(pod, view) ?? { pod, behavior: "Drain", order: 0 };
  return decision.behavior === "WaitCompleted" && isFinished(pod) ? skip : decision;
}

function byLabel(pod: Pod): PodDecision | undefined {
  switch (pod.metadata.labels?.[podDrainLabel]?.toLowerCase()) {
    case "skip":
      return { pod, behavior: "Skip", order: 0 };
    case "wait-completed":
      return { pod, behavior: "WaitCompleted", order: 0 };
    default:
      return undefined;
  }
}

function byRule(pod: Pod, view: DrainView): PodDecision | undefined {
  const namespaceLabels = view.namespaceLabels.get(pod.metadata.namespace ?? "") ?? {};
  const rule = [...view.rules]
    .sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1))
    .find((r) => {
      const { machines = [], pods = [] } = r.spec ?? {};
      return (
        anyOf(
          machines,
          (m) => selects(m.selector, view.machine.metadata.labels) && selects(m.clusterSelector, view.cluster.metadata.labels),
        ) && anyOf(pods, (p) => selects(p.selector, pod.metadata.labels) && selects(p.namespaceSelector, namespaceLabels))
      );
    });
  if (!rule) return undefined;
  const behavior = rule.spec?.drain?.behavior ?? "Drain";
  return { pod, behavior, order: behavior === "Drain" ? (rule.spec?.drain?.order ?? 0) : 0 };
}

/** An empty list means all. */
const anyOf = <T>(items: readonly T[], holds: (item: T) => boolean): boolean => items.length === 0 || items.some(holds);

/** An absent selector selects all. */
export const selects = (selector: LabelSelector | undefined, labels?: Labels): boolean => matchesSelector(selector ?? {}, labels);

export function planDrain(view: DrainView): DrainPlan {
  const decided = view.pods.map((pod) => decidePod(pod, view)).filter((d) => d.behavior !== "Skip");
  const lowest = Math.min(...decided.map((d) => d.order));
  const now = decided.filter((d) => d.order === lowest).sort((a, b) => (podText(a.pod) < podText(b.pod) ? -1 : 1));
  const drained = now.filter((d) => d.behavior === "Drain").map((d) => d.pod);
  return {
    evict: drained.filter((pod) => pod.metadata.deletionTimestamp === undefined),
    terminating: drained.filter((pod) => pod.metadata.deletionTimestamp !== undefined),
    waitFor: now.filter((d) => d.behavior === "WaitCompleted").map((d) => d.pod),
    later: decided.filter((d) => d.order > lowest).map((d) => d.pod),
  };
}

/** Pods that could not be evicted, by the text of the refusal. */
export type EvictionFailures = ReadonlyMap<string, readonly Pod[]>;

const FAILURES_MAX = 5;
const NAMES_MAX = 3;

const names = (pods: readonly Pod[]): string => {
  const texts = pods.map(podText).sort();
  const more = texts.length - NAMES_MAX;
  return more > 0 ? `${texts.slice(0, NAMES_MAX).join(", ")}, ... (${more} more)` : texts.join(", ");
};
const podsText = (pods: readonly Pod[]): string => `${pods.length === 1 ? "Pod" : "Pods"} ${names(pods)}`;

/** What the Deleting condition says while a drain goes on. @param since when it began, RFC 3339 */
export function drainMessage(plan: DrainPlan, evicted: readonly Pod[], failures: EvictionFailures, since: string): string {
  const lines = [`Drain not completed yet (started at ${since}):`];
  const going = [...plan.terminating, ...evicted];
  if (going.length > 0) lines.push(`* ${podsText(going)}: deletionTimestamp set, but still not removed from the Node`);
  const groups = [...failures].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [text, pods] of groups.slice(0, FAILURES_MAX)) lines.push(`* ${podsText(pods)}: ${text}`);
  if (groups.length > FAILURES_MAX) lines.push(`* ... (${groups.length - FAILURES_MAX} more errors applying to other Pods)`);
  if (plan.waitFor.length > 0) lines.push(`* ${podsText(plan.waitFor)}: waiting for completion`);
  if (plan.later.length > 0)
    lines.push(`After above Pods have been removed from the Node, the following Pods will be evicted: ${names(plan.later)}`);
  return lines.join("\n");
}

export const isDrained = (plan: DrainPlan, evicted: readonly Pod[], failures: EvictionFailures): boolean =>
  plan.terminating.length + plan.waitFor.length + plan.later.length + evicted.length + failures.size === 0;
