// Draining a Node for real: reads of the workload cluster, cordon, evictions. Here: requests. Not here: which Pod is due (drain.ts).
// Source: spec/controllers/machine.md section 6.1.
import {
  daemonSetResource,
  type Eviction,
  type Node,
  namespaceResource,
  nodeResource,
  type Pod,
  podResource,
} from "../../api/core/index.ts";
import { clusterGroup } from "../../api/groups.ts";
import { resource } from "../../api/meta/resource.ts";
import { isNotFound } from "../../api/meta/status.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import type { Client } from "../../runtime/client.ts";
import { controllerOf } from "../ownership/owners.ts";
import type { WorkloadCluster } from "../workload/seam.ts";
import { type DrainPlan, drainMessage, type DrainView, isDrained, type MachineDrainRule, planDrain } from "./drain.ts";
import type { Labels } from "../../api/meta/selector.ts";
import type { MachineView } from "./view.ts";

const PODS_PER_PAGE = 100;
/** Evictions of one run end here; the next run goes on. */
const EVICTING_MAX_MS = 10_000;
const UNREACHABLE_GRACE_SECONDS = 1;

const drainRuleResource = resource<MachineDrainRule>(clusterGroup, "v1beta2", "MachineDrainRule", "machinedrainrules");

export interface DrainResult {
  readonly done: boolean;
  readonly message: string;
}

export const isUnreachable = (node: Node): boolean => node.status?.conditions?.find((c) => c.type === "Ready")?.status === "Unknown";

/** One pass over the Node. @param since when draining began, RFC 3339 */
export async function drainNode(
  view: MachineView,
  workload: WorkloadCluster,
  node: Node,
  since: string,
  context: ReconcileContext,
): Promise<DrainResult> {
  const { client } = workload;
  if (!node.spec?.unschedulable) {
    await client.patch(
      nodeResource,
      { namespace: "", name: node.metadata.name ?? "" },
      { type: "merge", body: { spec: { unschedulable: true } } },
    );
  }
  const drainView = await readDrainView(view, client, node, context);
  const plan = planDrain(drainView);
  const { evicted, failures } = await evictAll(plan, client, drainView.unreachable, context);
  return { done: isDrained(plan, evicted, failures), message: drainMessage(plan, evicted, failures, since) };
}

async function readDrainView(view: MachineView, client: Client, node: Node, context: ReconcileContext): Promise<DrainView> {
  const pods = await podsOf(client, node.metadata.name ?? "");
  const rules = await drainRules(context.client, view.machine.metadata.namespace ?? "");
  const usesNamespaces = rules.some((r) => r.spec?.pods?.some((p) => p.namespaceSelector));
  return {
    machine: view.machine,
    cluster: view.cluster,
    pods,
    rules,
    daemonSets: await existingDaemonSets(client, pods),
    namespaceLabels: usesNamespaces ? await labelsOfNamespaces(client) : new Map(),
    unreachable: isUnreachable(node),
    nowMs: context.clock.nowMs(),
  };
}

export async function podsOf(client: Client, nodeName: string): Promise<readonly Pod[]> {
  const pods: Pod[] = [];
  let next: string | undefined;
  do {
    const page = await client.list(podResource, { fieldSelector: `spec.nodeName=${nodeName}`, limit: PODS_PER_PAGE, continue: next });
    pods.push(...page.items);
    next = page.metadata.continue || undefined;
  } while (next);
  return pods;
}

/** No rules where the kind is not installed. */
async function drainRules(client: Client, namespace: string): Promise<readonly MachineDrainRule[]> {
  try {
    return (await client.list(drainRuleResource, { namespace })).items;
  } catch (e) {
    if (isNotFound(e)) return [];
    throw e;
  }
}

async function existingDaemonSets(client: Client, pods: readonly Pod[]): Promise<ReadonlySet<string>> {
  const wanted = new Map<string, { readonly namespace: string; readonly name: string }>();
  for (const pod of pods) {
    const owner = controllerOf(pod);
    const namespace = pod.metadata.namespace ?? "";
    if (owner?.kind === "DaemonSet") wanted.set(`${namespace}/${owner.name}`, { namespace, name: owner.name });
  }
  const found = new Set<string>();
  for (const [text, key] of [...wanted].sort(([a], [b]) => (a < b ? -1 : 1))) {
    try {
      await client.get(daemonSetResource, key);
      found.add(text);
    } catch (e) {
      if (!isNotFound(e)) throw e;
    }
  }
  return found;
}

async function labelsOfNamespaces(client: Client): Promise<ReadonlyMap<string, Labels>> {
  const { items } = await client.list(namespaceResource);
  return new Map(items.map((n) => [n.metadata.name ?? "", n.metadata.labels ?? {}]));
}

interface Evicted {
  readonly evicted: readonly Pod[];
  readonly failures: ReadonlyMap<string, readonly Pod[]>;
}

async function evictAll(plan: DrainPlan, client: Client, unreachable: boolean, { clock }: ReconcileContext): Promise<Evicted> {
  const untilMs = clock.nowMs() + EVICTING_MAX_MS;
  const evicted: Pod[] = [];
  const failures = new Map<string, Pod[]>();
  for (const pod of plan.evict) {
    const refusal = clock.nowMs() > untilMs ? "not evicted yet, the time for this round is over" : await evict(client, pod, unreachable);
    if (refusal === undefined) evicted.push(pod);
    else if (refusal !== GONE) failures.set(refusal, [...(failures.get(refusal) ?? []), pod]);
  }
  return { evicted, failures };
}

const GONE = "gone";

/** @returns nothing when it will go, GONE when it has gone already, else why not */
async function evict(client: Client, pod: Pod, unreachable: boolean): Promise<string | undefined> {
  const { name, namespace } = pod.metadata;
  const eviction: Eviction = {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name, namespace },
    ...(unreachable ? { deleteOptions: { gracePeriodSeconds: UNREACHABLE_GRACE_SECONDS } } : {}),
  };
  try {
    await client.create<Eviction>(podResource, eviction, { subresource: "eviction" });
    return undefined;
  } catch (e) {
    if (isNotFound(e)) return GONE;
    const message = e instanceof Error ? e.message : String(e);
    return (e as { code?: unknown }).code === 429
      ? `cannot evict pod as it would violate the pod's disruption budget. ${message}`
      : `failed to evict Pod: ${message}`;
  }
}
