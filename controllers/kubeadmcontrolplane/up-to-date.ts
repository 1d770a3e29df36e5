// Is a Machine what its control plane wants? Here: the checks, their texts, what may be cured in place. Pure.
// Not here: comparing KubeadmConfigs (kubeadm-config.ts). Source: spec/controllers/kubeadmcontrolplane.md section 9.
import type { KubeadmConfig } from "../../api/kubeadmconfig.ts";
import type { KubeadmControlPlane } from "../../api/kubeadmcontrolplane.ts";
import type { Machine } from "../../api/machine.ts";
import {
  deleteMachineAnnotation,
  remediateMachineAnnotation,
  templateClonedFromGroupKindAnnotation,
  templateClonedFromNameAnnotation,
} from "../../api/names.ts";
import { parseTimestamp } from "../../runtime/base/clock.ts";
import type { Unstructured } from "../contract/contract.ts";
import { type ConfigComparison, compareConfig } from "./kubeadm-config.ts";
import { createdMs, hasAnnotation } from "./machines.ts";

const DAY_MS = 24 * 3_600_000;

export interface MachineObjects {
  readonly machine: Machine;
  /** Absent: not there, or not referred to. Missing things are never a difference. */
  readonly config?: KubeadmConfig;
  readonly infrastructure?: Unstructured;
}

export interface UpToDate {
  /** By spec; a Machine that still runs its in-place update may be up to date. */
  readonly upToDate: boolean;
  /** Lines of the Machine's UpToDate condition. */
  readonly messages: readonly string[];
  /** Whether an update in place may be tried at all. */
  readonly inPlaceEligible: boolean;
  readonly config?: ConfigComparison;
}

export function compareMachine(objects: MachineObjects, kcp: KubeadmControlPlane, nowMs: number): UpToDate {
  const { machine, config, infrastructure } = objects;
  const due = [certificatesExpire(machine, kcp, nowMs), rolloutIsDue(machine, kcp, nowMs)].filter((text) => text !== undefined);
  const comparison = config && compareConfig(config.spec ?? {}, kcp);
  const changed = [
    versionDiffers(machine, kcp),
    comparison && !comparison.upToDate ? "KubeadmConfig is not up-to-date" : undefined,
    infrastructure && clonedFromOther(infrastructure, kcp) ? `${machine.spec.infrastructureRef.kind} is not up-to-date` : undefined,
  ].filter((text) => text !== undefined);
  const marked = hasAnnotation(machine, deleteMachineAnnotation) || hasAnnotation(machine, remediateMachineAnnotation);
  return {
    upToDate: due.length + changed.length === 0,
    messages: [...due, ...changed],
    inPlaceEligible: due.length === 0 && changed.length > 0 && !marked,
    ...(comparison ? { config: comparison } : {}),
  };
}

function certificatesExpire(machine: Machine, kcp: KubeadmControlPlane, nowMs: number): string | undefined {
  const dueMs = certificatesDueMs(machine, kcp);
  return dueMs !== undefined && nowMs > dueMs ? "Certificates will expire soon" : undefined;
}

/** From when on a Machine is replaced because of its certificates; milliseconds since the epoch. */
export function certificatesDueMs(machine: Machine, kcp: KubeadmControlPlane): number | undefined {
  const days = kcp.spec.rollout?.before?.certificatesExpiryDays ?? 0;
  const expiry = parseTimestamp(machine.status?.certificatesExpiryDate ?? "");
  return days > 0 && !Number.isNaN(expiry) ? expiry - days * DAY_MS : undefined;
}

export function rolloutAfterMs(kcp: KubeadmControlPlane): number | undefined {
  const ms = parseTimestamp(kcp.spec.rollout?.after ?? "");
  return Number.isNaN(ms) ? undefined : ms;
}

function rolloutIsDue(machine: Machine, kcp: KubeadmControlPlane, nowMs: number): string | undefined {
  const after = rolloutAfterMs(kcp);
  if (after === undefined || after >= nowMs || createdMs(machine) >= after) return undefined;
  return "KubeadmControlPlane spec.rollout.after expired";
}

function versionDiffers(machine: Machine, kcp: KubeadmControlPlane): string | undefined {
  const [has, wanted] = [machine.spec.version ?? "", kcp.spec.version];
  return has === wanted ? undefined : `Version ${has === "" ? "(none)" : has}, ${wanted} required`;
}

/** Only name and kind of the template count; objects without clone marks cannot be judged. */
function clonedFromOther(infrastructure: Unstructured, kcp: KubeadmControlPlane): boolean {
  const { [templateClonedFromNameAnnotation]: name, [templateClonedFromGroupKindAnnotation]: groupKind } =
    infrastructure.metadata.annotations ?? {};
  if (name === undefined || groupKind === undefined) return false;
  const ref = kcp.spec.machineTemplate.spec.infrastructureRef;
  return name !== ref.name || groupKind !== `${ref.kind}.${ref.apiGroup}`;
}
