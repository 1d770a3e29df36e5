// Lifecycle hooks of a Cluster: asking extensions, remembering who blocks, marks of hooks still to be called.
// Not here: when a hook is due (versions.ts, controller.ts). Source: spec/runtime/hooks.md section 7.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import type { HookName, RetryResponse } from "../../api/hooks/index.ts";
import { keyOf, keyText } from "../../api/meta/resource.ts";
import { pendingHooksAnnotation } from "../../api/names.ts";
import type { HookClient } from "../../hooks/client.ts";
import type { Clock } from "../../runtime/base/clock.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { pendingHooksOf } from "./facts.ts";
import { withoutNoise } from "./variables.ts";
import type { UpgradePlan } from "./upgrade-plan.ts";
import type { HookAnswer } from "./versions.ts";
import type { TopologyView } from "./view.ts";

export interface Lifecycle {
  /** Not called again before the time that a blocking answer named. */
  ask(cluster: Cluster, hook: HookName, fields: object): Promise<HookAnswer>;
  forget(cluster: { readonly namespace: string; readonly name: string }): void;
}

interface Blocked {
  readonly untilMs: number;
  readonly message: string;
}

export function createLifecycle(hooks: HookClient, clock: Clock): Lifecycle {
  const blocked = new Map<string, Map<HookName, Blocked>>();
  return {
    ask: async (cluster, hook, fields) => {
      const key = keyText(keyOf(cluster));
      const known = blocked.get(key)?.get(hook);
      const restMs = (known?.untilMs ?? 0) - clock.nowMs();
      if (known && restMs > 0) return { blocked: true, message: known.message, retryAfterSeconds: Math.max(1, Math.ceil(restMs / 1_000)) };
      const answer = (await hooks.callAll(hook, cluster, { ...fields, cluster: sent(cluster) } as never)) as RetryResponse;
      const { retryAfterSeconds = 0, message = "" } = answer;
      const ofCluster = blocked.get(key) ?? new Map<HookName, Blocked>();
      blocked.set(key, ofCluster);
      ofCluster.delete(hook);
      if (retryAfterSeconds <= 0) return { blocked: false };
      ofCluster.set(hook, { untilMs: clock.nowMs() + retryAfterSeconds * 1_000, message });
      return { blocked: true, message, retryAfterSeconds };
    },
    forget: (key) => void blocked.delete(keyText(key)),
  };
}

/** Without status and what only servers and tools read. */
function sent({ status: _status, ...cluster }: Cluster): Cluster {
  const { managedFields: _fields, annotations, ...metadata } = cluster.metadata;
  const kept = withoutNoise(annotations);
  return { ...cluster, metadata: { ...metadata, ...(kept ? { annotations: kept } : {}) } };
}

const WITH_PLAN: readonly HookName[] = [
  "BeforeClusterUpgrade",
  "BeforeControlPlaneUpgrade",
  "AfterControlPlaneUpgrade",
  "BeforeWorkersUpgrade",
  "AfterWorkersUpgrade",
];

/** What is left of the upgrade, for the hooks that are told. */
export function planFields(hook: HookName, plan: UpgradePlan): object {
  if (!WITH_PLAN.includes(hook)) return {};
  const steps = (versions: readonly string[]) => versions.map((version) => ({ version }));
  return {
    ...(plan.controlPlane.length > 0 ? { controlPlaneUpgrades: steps(plan.controlPlane) } : {}),
    ...(plan.workers.length > 0 ? { workersUpgrades: steps(plan.workers) } : {}),
  };
}

/** Changes the marks on the Cluster; they survive a restart, so that no hook is left out. */
export async function writeMarks(
  view: Pick<TopologyView, "cluster">,
  mark: readonly HookName[],
  unmark: readonly HookName[],
  { client }: Pick<ReconcileContext, "client">,
): Promise<void> {
  const before = pendingHooksOf(view);
  const after = [...new Set([...before.filter((h) => !(unmark as readonly string[]).includes(h)), ...mark])].sort();
  if (after.join(",") === [...before].sort().join(",")) return;
  const { resourceVersion } = view.cluster.metadata;
  const annotations = { [pendingHooksAnnotation]: after.length > 0 ? after.join(",") : null };
  view.cluster = await client.patch(clusterResource, keyOf(view.cluster), {
    type: "merge",
    body: { metadata: { resourceVersion, annotations } },
  });
}
