// Status of a control plane: counters and conditions, written when they differ. Here: computing the counters, the write, when to look again.
// Not here: what conditions say (conditions.ts). Source: spec/controllers/kubeadmcontrolplane.md 16.4 and 17.
import { type KubeadmControlPlaneStatus, kubeadmControlPlaneResource } from "../../api/kubeadmcontrolplane.ts";
import { remediationForAnnotation, remediationInProgressAnnotation } from "../../api/names.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import { findCondition, setConditions } from "../../runtime/conditions.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import { writeStatus } from "../lifecycle/status.ts";
import { upToDateGraceLeftMs } from "../rollout/conditions.ts";
import { countVersions } from "../rollout/versions.ts";
import { findingsOf } from "./conditions.ts";
import { isDeleting, isTrueOn, nameOf, selectorOf } from "./machines.ts";
import { parseRemediation } from "./remediation.ts";
import { certificatesDueMs, rolloutAfterMs } from "./up-to-date.ts";
import type { ControlPlaneView } from "./view.ts";

/** What no event tells: a first start that hangs, and components that are down. */
const UNSETTLED_RETRY_MS = 20_000;
/** Client certificates in kubeconfigs age without events; also the longest wait for any date. */
const LOOK_AGAIN_MS = 24 * 3_600_000;

type Counters = Omit<KubeadmControlPlaneStatus, "conditions" | "observedGeneration">;

export function countersOf({ kcp, cluster, machines, initialized }: ControlPlaneView): Counters {
  const count = (type: string): number => machines.filter((m) => isTrueOn(m, type)).length;
  const versions = countVersions(
    machines.flatMap((m) => {
      const version = m.status?.nodeInfo?.kubeletVersion || m.spec.version;
      return version ? [{ version, replicas: 1 }] : [];
    }),
  );
  const lastRemediation = lastRemediationOf({ kcp, machines });
  return {
    replicas: machines.length,
    readyReplicas: count("Ready"),
    availableReplicas: count("Available"),
    upToDateReplicas: count("UpToDate"),
    selector: selectorOf(nameOf(cluster)),
    versions,
    version: versions?.[0]?.version,
    ...(initialized ? { initialization: { controlPlaneInitialized: true } } : {}),
    ...(lastRemediation ? { lastRemediation } : {}),
  };
}

function lastRemediationOf({ kcp, machines }: Pick<ControlPlaneView, "kcp" | "machines">): Counters["lastRemediation"] {
  const texts = [
    kcp.metadata.annotations?.[remediationInProgressAnnotation],
    ...machines
      .map((m) => m.metadata.annotations?.[remediationForAnnotation])
      .sort((a, b) => Date.parse(parseRemediation(b)?.timestamp ?? "") - Date.parse(parseRemediation(a)?.timestamp ?? "") || 0),
  ];
  const data = texts.map(parseRemediation).find((d) => d !== undefined);
  if (!data || Number.isNaN(Date.parse(data.timestamp))) return undefined;
  return { machine: data.machine, time: timestamp(Date.parse(data.timestamp)), retryCount: data.retryCount };
}

export async function writeControlPlaneStatus(view: ControlPlaneView, { client, clock }: ReconcileContext): Promise<StepOutcome> {
  if (view.gone) return undefined;
  const { kcp } = view;
  const { findings, requeueAfterMs } = findingsOf(view);
  const counters = countersOf(view);
  const { generation } = kcp.metadata;
  view.kcp = await writeStatus(client, kubeadmControlPlaneResource, kcp, (newest) => ({
    ...newest.status,
    ...counters,
    conditions: setConditions(newest.status?.conditions, findings, timestamp(clock.nowMs()), generation),
    ...(view.failed ? {} : { observedGeneration: generation }),
  }));
  return { requeueAfterMs: Math.min(...wakeUps(view), requeueAfterMs ?? LOOK_AGAIN_MS) };
}

/** Milliseconds from now until something may be due that no event announces. */
function wakeUps(view: ControlPlaneView): readonly number[] {
  const { kcp, machines, nowMs, initialized } = view;
  if (isDeleting(kcp)) return [LOOK_AGAIN_MS];
  const dates = [rolloutAfterMs(kcp), ...machines.map((m) => certificatesDueMs(m, kcp))];
  const ahead = dates.flatMap((ms) => (ms !== undefined && ms >= nowMs ? [ms - nowMs + 1] : []));
  const down = findCondition(kcp.status?.conditions, "ControlPlaneComponentsHealthy")?.status === "False";
  const unsettled = (!initialized && machines.length > 0) || down;
  const grace = upToDateGraceLeftMs(machines, nowMs);
  return [LOOK_AGAIN_MS, ...ahead, ...(unsettled ? [UNSETTLED_RETRY_MS] : []), ...(grace === undefined ? [] : [grace])];
}
