// What a static Pod says about its component. Here: pure checks over one Pod. Source: spec/controllers/workload-cluster.md section 4.
import type { ContainerStatus, Pod } from "../../api/core/index.ts";
import { type Finding, isFalse, isTrue, isUnknown } from "../../runtime/conditions.ts";

type Bare = Omit<Finding, "type">;
const bare = ({ status, reason, message }: Finding): Bare => ({ status, reason, message });

/** @returns undefined for a phase that nobody knows: the condition stays */
export function podFinding(pod: Pod | undefined, podName: string): Bare | undefined {
  if (!pod) return bare(isFalse("", "DoesNotExist", `Pod ${podName} does not exist`));
  switch (pod.status?.phase) {
    case "Pending":
      return bare(isFalse("", "Provisioning", pendingText(pod)));
    case "Running":
      return bare(runningFinding(pod));
    case "Succeeded":
    case "Failed":
      return bare(isFalse("", "Failed", "All the containers have been terminated"));
    case "Unknown":
      return bare(isUnknown("", "InspectionFailed", "Pod is reporting Unknown status"));
    default:
      return undefined;
  }
}

const podIs = (pod: Pod, type: string): boolean => pod.status?.conditions?.some((c) => c.type === type && c.status === "True") ?? false;

function pendingText(pod: Pod): string {
  if (!podIs(pod, "PodScheduled")) return "Waiting to be scheduled";
  return podIs(pod, "Initialized") ? "Waiting for containers to start" : "Waiting for init containers to complete";
}

function runningFinding(pod: Pod): Finding {
  if (podIs(pod, "Ready")) return isTrue("", "Running");
  const containers = pod.status?.containerStatuses ?? [];
  const waiting = reasons(containers, (c) => c.state?.waiting);
  if (waiting.length > 0) {
    const crashed = containers.some((c) => (c.lastState?.terminated?.exitCode ?? 0) !== 0);
    return isFalse("", crashed ? "Failed" : "Provisioning", waiting.join(", "));
  }
  const terminated = reasons(containers, (c) => c.state?.terminated);
  if (terminated.length > 0) return isFalse("", "Failed", terminated.join(", "));
  return isFalse("", "Provisioning", "Waiting for startup or readiness probes");
}

const reasons = (
  containers: readonly ContainerStatus[],
  state: (c: ContainerStatus) => { readonly reason?: string; readonly message?: string } | undefined,
): readonly string[] =>
  containers.flatMap((c) => {
    const found = state(c);
    return found ? [found.reason || found.message || `container ${c.name} does not run`] : [];
  });
