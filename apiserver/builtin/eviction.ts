// Eviction of pods within disruption budgets. Here: whether a budget allows it, and the 429 when not.
// Not here: keeping status of budgets current; a budget whose status nobody keeps is judged by the pods there are.
import { timestamp } from "../../runtime/base/clock.ts";
import { customError, notFound, tooManyRequests } from "../errors.ts";
import type { ApiObject } from "../object.ts";
import type { ResourceType, SubresourceHandler, SubresourceRequest } from "../registry.ts";
import { asFields, asList, asNumber, asText, type Fields, selects, specOf, statusOf } from "./strategies/fields.ts";

const PODS = { group: "", plural: "pods", kind: "Pod" } as const;
const RETRY_SECONDS = 10;

const isReady = (pod: ApiObject): boolean =>
  asList(statusOf(pod).conditions).some((c) => c.type === "Ready" && c.status === "True") && pod.metadata.deletionTimestamp === undefined;

/** Pods that wind down or never ran need no budget. */
const needsNoBudget = (pod: ApiObject): boolean =>
  pod.metadata.deletionTimestamp !== undefined || ["Succeeded", "Failed", "Pending"].includes(asText(statusOf(pod).phase));

/** A count or a percentage of `total`, rounded up. */
function scaled(value: unknown, total: number): number {
  if (typeof value === "number") return value;
  const percent = /^(\d+)%$/.exec(asText(value));
  return percent ? Math.ceil((Number(percent[1]) * total) / 100) : 0;
}

interface Health {
  readonly current: number;
  readonly desired: number;
  readonly allowed: number;
}

/** What the status says; from the pods when it has never been written. */
function healthOf(budget: ApiObject, pods: readonly ApiObject[]): Health {
  const status = statusOf(budget);
  if (status.observedGeneration !== undefined) {
    return {
      current: asNumber(status.currentHealthy),
      desired: asNumber(status.desiredHealthy),
      allowed: asNumber(status.disruptionsAllowed),
    };
  }
  const { minAvailable, maxUnavailable, selector } = specOf(budget);
  const covered = pods.filter(
    (pod) => selects(selector, pod.metadata.labels) && !["Succeeded", "Failed"].includes(asText(statusOf(pod).phase)),
  );
  const current = covered.filter(isReady).length;
  const desired =
    maxUnavailable === undefined ? scaled(minAvailable, covered.length) : covered.length - scaled(maxUnavailable, covered.length);
  return { current, desired, allowed: Math.max(0, current - desired) };
}

/** An unhealthy pod may go although the budget is used up, depending on its policy. */
function mayGoUnhealthy(pod: ApiObject, spec: Fields, health: Health): boolean {
  if (isReady(pod)) return false;
  if (spec.unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  return health.current >= health.desired && health.desired > 0;
}

/** Counts the eviction in the budget's status. Throws TooManyRequests when it allows none. */
async function spend(
  request: SubresourceRequest,
  type: ResourceType,
  budget: ApiObject,
  pod: ApiObject,
  pods: readonly ApiObject[],
): Promise<void> {
  const { server, dryRun, namespace } = request;
  const name = budget.metadata.name ?? "";
  const kept = statusOf(budget).observedGeneration !== undefined;
  if (kept && asNumber(statusOf(budget).observedGeneration) < (budget.metadata.generation ?? 0)) {
    throw tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", RETRY_SECONDS, [
      { reason: "DisruptionBudget", message: `The disruption budget ${name} is still being processed by the server.` },
    ]);
  }
  const health = healthOf(budget, pods);
  if (mayGoUnhealthy(pod, specOf(budget), health)) return;
  if (health.allowed <= 0) {
    throw tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0, [
      {
        reason: "DisruptionBudget",
        message: `The disruption budget ${name} needs ${health.desired} healthy pods and has ${health.current} currently`,
      },
    ]);
  }
  if (!kept || dryRun) return;
  await server.objects.update(
    type,
    namespace,
    name,
    (old) => {
      const status = statusOf(old);
      const disrupted = { ...asFields(status.disruptedPods), [pod.metadata.name ?? ""]: timestamp(server.clock.nowMs()) };
      return {
        ...old,
        status: { ...status, disruptionsAllowed: Math.max(0, asNumber(status.disruptionsAllowed) - 1), disruptedPods: disrupted },
      };
    },
    { subresource: "status" },
  );
}

async function evict(request: SubresourceRequest): Promise<object> {
  const { server, type, namespace, name, object, user } = request;
  const pod = server.objects.get(type, namespace, name);
  if (!pod) throw notFound(PODS, name);
  const options = asFields(object?.deleteOptions);
  const dryRun = request.dryRun || asList(options.dryRun).length > 0;
  const budgets = server.registry.byKind("policy", "v1", "PodDisruptionBudget");
  if (budgets && !needsNoBudget(pod)) {
    const matching = server.objects.list(budgets, namespace).filter((b) => selects(specOf(b).selector, pod.metadata.labels));
    if (matching.length > 1) {
      throw customError(
        500,
        "InternalError",
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
      );
    }
    const [budget] = matching;
    if (budget) await spend({ ...request, dryRun }, budgets, budget, pod, server.objects.list(type, namespace));
  }
  const grace = options.gracePeriodSeconds;
  const { uid } = asFields(options.preconditions);
  await server.objects.delete(type, namespace, name, {
    dryRun,
    user,
    ...(typeof grace === "number" ? { gracePeriodSeconds: grace } : {}),
    ...(typeof uid === "string" ? { uid } : {}),
  });
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
}

export const evictionHandler: SubresourceHandler = {
  verbs: ["create"],
  kind: { group: "policy", version: "v1", kind: "Eviction" },
  handle: evict,
};
