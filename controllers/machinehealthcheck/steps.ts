// What a MachineHealthCheck writes: marks on Machines, requests for remediation from outside. Here: effects, one Machine after the other.
// Not here: verdicts (health.ts), limits (limits.ts). Source: spec/controllers/machinehealthcheck.md section 5.
// Ours besides: a request that exists, or one that fails, keeps no other Machine from being handled; marks are always written.
import { clusterResource } from "../../api/cluster.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { machineHealthCheckResource } from "../../api/machinehealthcheck.ts";
import { keyOf } from "../../api/meta/resource.ts";
import { isAlreadyExists, isNotFound } from "../../api/meta/status.ts";
import { clusterNameLabel } from "../../api/names.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import { type Finding, findCondition, isFalse, isTrue, setConditions } from "../../runtime/conditions.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import { patchObject } from "../../runtime/patch.ts";
import type { ContractRef } from "../contract/contract.ts";
import { writeStatus } from "../lifecycle/status.ts";
import { groupOf, referenceTo, withOwner } from "../ownership/owners.ts";
import { clonedRef, cloneTemplate } from "../templates/clone.ts";
import { readReference, readTemplate } from "../templates/read.ts";
import type { HealthCheckView, Target } from "./view.ts";

/** The cluster's label; the Cluster as an owner, so that the check goes when it goes. */
export async function ownerAndLabels(view: HealthCheckView, { client }: ReconcileContext): Promise<void> {
  const { check, cluster } = view;
  const ownerReferences = withOwner(check.metadata.ownerReferences, referenceTo(clusterResource, cluster));
  const labels = { ...check.metadata.labels, [clusterNameLabel]: check.spec.clusterName };
  view.check = await patchObject(
    client,
    machineHealthCheckResource,
    check,
    { ...check, metadata: { ...check.metadata, labels, ownerReferences } },
    { onlyIfUnchanged: true },
  );
}

export async function markMachines(view: HealthCheckView, context: ReconcileContext): Promise<StepOutcome> {
  const { limit, targets, check } = view;
  if (!limit.allowed && targets.some(({ health }) => health.verdict === "unhealthy"))
    context.record(check, "Warning", "RemediationRestricted", limit.message);
  const failures: unknown[] = [];
  for (const target of targets) {
    try {
      await mark(view, context, target);
    } catch (e) {
      failures.push(e);
    }
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, failures.map(String).join("; "));
  const countdowns = targets.flatMap(({ health }) => (health.verdict === "neither" && health.checkAgainMs ? [health.checkAgainMs] : []));
  return limit.allowed && countdowns.length > 0 ? { requeueAfterMs: Math.min(...countdowns) } : undefined;
}

async function mark(view: HealthCheckView, context: ReconcileContext, { machine, health }: Target): Promise<void> {
  const { templateRef } = view.check.spec.remediation ?? {};
  const template = templateRef && { apiGroup: groupOf(templateRef.apiVersion), kind: templateRef.kind, name: templateRef.name };
  if (health.verdict === "neither") return;
  if (health.verdict === "healthy") {
    if (template) await withdrawRequest(context, machine, template);
    return writeFindings(context, machine, [isTrue("HealthCheckSucceeded")]);
  }
  const failed = isFalse("HealthCheckSucceeded", health.reason, health.message);
  if (!view.limit.allowed) return writeFindings(context, machine, [failed]);
  const news = findCondition(machine.status?.conditions, "HealthCheckSucceeded");
  if (news?.status !== "False" || news.reason !== health.reason || news.message !== health.message)
    context.record(
      machine,
      "Normal",
      "MachineMarkedUnhealthy",
      `Machine ${machine.metadata.name} has been marked as unhealthy: ${health.message}`,
    );
  if (template) return requestRemediation(view, context, machine, template, failed);
  return writeFindings(context, machine, [failed, ...forTheOwner(machine)]);
}

/** A False that is there belongs to the owner. */
function forTheOwner(machine: Machine): readonly Finding[] {
  const told = findCondition(machine.status?.conditions, "OwnerRemediated")?.status === "False";
  if (told || machine.metadata.deletionTimestamp !== undefined) return [];
  return [isFalse("OwnerRemediated", "WaitingForRemediation", "Waiting for the owner to remediate this Machine")];
}

async function writeFindings({ client, clock }: ReconcileContext, machine: Machine, findings: readonly Finding[]): Promise<void> {
  await writeStatus(client, machineResource, machine, (newest) => ({
    ...newest.status,
    conditions: setConditions(newest.status?.conditions, findings, timestamp(clock.nowMs()), newest.metadata.generation),
  }));
}

// --- remediation from outside --------------------------------------------------------------------------------------------------------

async function requestRemediation(
  { cluster }: HealthCheckView,
  context: ReconcileContext,
  machine: Machine,
  templateRef: ContractRef,
  failed: Finding,
): Promise<void> {
  const key = keyOf(machine);
  const external = (reason: string, message: string): Promise<void> =>
    writeFindings(context, machine, [failed, isFalse("ExternallyRemediated", reason, message)]);
  const template = await readTemplate(context, key.namespace, templateRef);
  if (template === "later") return;
  if (template?.state !== "found") {
    const cause = template?.state === "failed" ? messageOf(template.error) : "it does not exist";
    await external("RemediationTemplateNotFound", `Cannot read ${templateRef.kind} ${templateRef.name}: ${cause}`);
    throw new Error(`${templateRef.kind} ${templateRef.name} cannot be read: ${cause}`);
  }
  const ref = clonedRef(templateRef, key.name);
  const there = await readReference(context, key.namespace, ref);
  if (there.state === "found") return writeFindings(context, machine, [failed]);
  if (there.state === "later") return;
  const clone = cloneTemplate({
    template: template.object,
    templateRef,
    name: key.name,
    namespace: key.namespace,
    clusterName: cluster.metadata.name ?? "",
    labels: {},
    annotations: {},
    owner: referenceTo(machineResource, machine),
  });
  try {
    await context.client.create(there.kind.resource, clone).catch((e: unknown) => {
      if (!isAlreadyExists(e)) throw e;
    });
  } catch (e) {
    await external("RemediationRequestCreationFailed", `${ref.kind} ${ref.name} could not be created: ${messageOf(e)}`);
    throw e;
  }
  await external("WaitingForRemediation", `Waiting for ${ref.kind} ${ref.name} to remediate this Machine`);
}

async function withdrawRequest(context: ReconcileContext, machine: Machine, templateRef: ContractRef): Promise<void> {
  const ref = clonedRef(templateRef, machine.metadata.name ?? "");
  const request = await readReference(context, machine.metadata.namespace ?? "", ref);
  if (request.state !== "found" || request.object.metadata.deletionTimestamp !== undefined) return;
  await context.client.delete(request.kind.resource, keyOf(request.object)).catch((e: unknown) => {
    if (!isNotFound(e)) throw e;
  });
}

const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e));

// --- status --------------------------------------------------------------------------------------------------------------------------

export async function writeCheckStatus(view: HealthCheckView, { client, clock }: ReconcileContext): Promise<void> {
  const { check, targets, limit } = view;
  const { generation } = check.metadata;
  const allowed = limit.allowed ? isTrue("RemediationAllowed") : isFalse("RemediationAllowed", "TooManyUnhealthy", limit.message);
  await writeStatus(client, machineHealthCheckResource, check, (newest) => ({
    ...newest.status,
    expectedMachines: targets.length,
    currentHealthy: targets.filter(({ health }) => health.verdict === "healthy").length,
    remediationsAllowed: limit.left,
    targets: targets.map(({ machine }) => machine.metadata.name ?? ""),
    conditions: setConditions(newest.status?.conditions, [allowed], timestamp(clock.nowMs()), generation),
    observedGeneration: generation,
  }));
}
