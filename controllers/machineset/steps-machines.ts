// Steps of a MachineSet about machines that exist: owners, adoption, remediation, sync of pushed fields, start of in-place updates.
// Not here: making, deleting and handing over (steps-scale.ts), what is decided (plan.ts, remediation.ts). Source: spec/controllers/machineset.md.
import { clusterResource } from "../../api/cluster.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { type MachineSet, machineSetResource } from "../../api/machineset.ts";
import { keyOf } from "../../api/meta/resource.ts";
import { isNotFound } from "../../api/meta/status.ts";
import {
  clusterNameLabel,
  fieldManagers,
  machineDeploymentNameLabel,
  pendingAcknowledgeMoveAnnotation,
  pendingHooksAnnotation,
} from "../../api/names.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import { findCondition, isFalse, setConditions, withoutConditions } from "../../runtime/conditions.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import { mergePatch, patchObject, sameJson } from "../../runtime/patch.ts";
import { type AppliedMemory, applyIntent, applyOnce, disownMetadata, repairOwnership } from "../apply/apply.ts";
import type { Unstructured } from "../contract/contract.ts";
import { acknowledgedMoves, UPDATE_MACHINE_HOOK, withPendingHook } from "../inplace/marks.ts";
import { writeStatus } from "../lifecycle/status.ts";
import { adopt, controllerOf, ensureClusterOwner, referenceTo, withOwner } from "../ownership/owners.ts";
import { resolveIntOrPercent } from "../rollout/numbers.ts";
import { desiredInPlace } from "../templates/clone.ts";
import { readReference, type TemplateRead } from "../templates/read.ts";
import { machineAnnotations, machineLabels, specWhileDeleting, syncedMachine, syncToken } from "./desired.ts";
import { machinesToTrigger } from "./plan.ts";
import { type Mark, planRemediation } from "./remediation.ts";
import { checkPreflight } from "./steps-scale.ts";
import { planWithGrace, type SurplusMemory } from "./surplus.ts";
import { isCurrent, isDeleting, type MachineSetView, machineNamed, machineViews, nameOf, replaceMachine, setViewOf } from "./view.ts";

/** Requeue when something that nobody watches was repaired. */
const AFTER_REPAIR_MS = 1_000;

/** The cluster's label on the set, in its selector and its template; the Cluster as owner of a stand-alone set. */
export async function ownerAndLabels(view: MachineSetView, { client }: ReconcileContext): Promise<void> {
  const { set, cluster } = view;
  const label = { [clusterNameLabel]: set.spec.clusterName };
  const { template, selector } = set.spec;
  const standAlone = !controllerOf(set) && set.metadata.labels?.[machineDeploymentNameLabel] === undefined;
  const ownerReferences = standAlone
    ? withOwner(set.metadata.ownerReferences, referenceTo(clusterResource, cluster))
    : set.metadata.ownerReferences;
  const wanted: MachineSet = {
    ...set,
    metadata: { ...set.metadata, labels: { ...set.metadata.labels, ...label }, ...(ownerReferences ? { ownerReferences } : {}) },
    spec: {
      ...set.spec,
      selector: { ...selector, matchLabels: { ...selector.matchLabels, ...label } },
      template: { ...template, metadata: { ...template.metadata, labels: { ...template.metadata?.labels, ...label } } },
    },
  };
  view.set = await patchObject(client, machineSetResource, set, wanted, { onlyIfUnchanged: true });
}

/** Templates go when their Cluster goes. @throws Error for one that is missing and needed */
export async function templates(view: MachineSetView, { client }: ReconcileContext): Promise<void> {
  const missing: string[] = [];
  for (const read of [view.infrastructureTemplate, view.bootstrapTemplate]) {
    if (read?.state === "found") await ensureClusterOwner(client, read.kind.resource, read.object, view.cluster);
    if (read?.state === "failed") throw read.error;
    if (read?.state === "missing") missing.push(`${read.ref.kind} ${read.ref.name}`);
  }
  const tolerated = view.deployment !== undefined && !isCurrent(view);
  if (missing.length > 0 && !tolerated)
    throw new Error(`${missing.join(" and ")} of this MachineSet does not exist: create it, or change the template reference`);
}

/** Takes machines without a controller. One that cannot be taken is left out. */
export async function adoptMachines(view: MachineSetView, context: ReconcileContext): Promise<void> {
  for (const machine of view.orphans) {
    if (isDeleting(machine) || isDeleting(view.set)) continue;
    try {
      const adopted = await adopt(context.client, machineResource, machine, machineSetResource, view.set);
      view.machines = [...view.machines, adopted].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
      context.record(view.set, "Normal", "SuccessfulAdopt", `Adopted Machine "${nameOf(machine)}"`);
    } catch (e) {
      context.record(view.set, "Warning", "FailedAdopt", `Failed to adopt Machine "${nameOf(machine)}": ${messageOf(e)}`);
    }
  }
}

const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e));

// --- remediation ---------------------------------------------------------------------------------------------------------------------

export async function remediate(view: MachineSetView, context: ReconcileContext): Promise<StepOutcome> {
  const { deployment } = view;
  const limit = deployment?.spec.remediation?.maxInFlight;
  const inFlightMax = limit === undefined ? undefined : resolveIntOrPercent(limit, deployment?.spec.replicas ?? 0, "up");
  const plan = planRemediation({ machines: view.machines, current: isCurrent(view), inFlightMax });
  for (const name of plan.clear) await writeOwnerRemediated(view, context, name, undefined);
  for (const mark of plan.defer) await writeOwnerRemediated(view, context, mark.name, mark);
  if (plan.remediate.length === 0) return;
  const failures = await checkPreflight(view, context);
  if (failures.length > 0) {
    const message = failures.join("; ");
    for (const name of plan.remediate) await writeOwnerRemediated(view, context, name, { name, reason: "RemediationDeferred", message });
    return { requeueAfterMs: 15_000 };
  }
  // Marked first: a machine that is being deleted is no candidate any more and would never get the mark.
  const message = "Machine is deleting";
  for (const name of plan.remediate) await writeOwnerRemediated(view, context, name, { name, reason: "MachineDeleting", message });
  for (const name of plan.remediate) {
    const machine = machineNamed(view, name);
    if (machine)
      await context.client.delete(machineResource, keyOf(machine), { preconditions: { uid: machine.metadata.uid } }).catch(unlessGone);
    view.deletedNow.add(name);
  }
}

export const unlessGone = (e: unknown): void => {
  if (!isNotFound(e)) throw e;
};

async function writeOwnerRemediated(
  view: MachineSetView,
  { client, clock }: ReconcileContext,
  name: string,
  mark: Mark | undefined,
): Promise<void> {
  const machine = machineNamed(view, name);
  if (!machine) return;
  const next = (newest: Machine): object => {
    const { conditions } = newest.status ?? {};
    if (!mark) return { ...newest.status, conditions: withoutConditions(conditions, ["OwnerRemediated"]) };
    const finding = isFalse("OwnerRemediated", mark.reason, mark.message);
    return { ...newest.status, conditions: setConditions(conditions, [finding], timestamp(clock.nowMs()), newest.metadata.generation) };
  };
  const old = findCondition(machine.status?.conditions, "OwnerRemediated");
  if (mark && old?.reason === mark.reason && old.message === mark.message && old.status === "False") return;
  replaceMachine(view, await writeStatus(client, machineResource, machine, next));
}

// --- sync of pushed fields -----------------------------------------------------------------------------------------------------------

/** Puts labels, annotations and pushed fields on machines and their objects, each only when it may have changed. */
export async function syncMachines(view: MachineSetView, context: ReconcileContext, memory: AppliedMemory): Promise<StepOutcome> {
  const token = syncToken(view.set);
  const failures: unknown[] = [];
  let repaired = false;
  for (const machine of [...view.machines]) {
    try {
      if (isDeleting(machine) || view.deletedNow.has(nameOf(machine))) await syncDeleting(view, context, machine);
      else if (await repairOwnership(context, memory, machineResource, machine, fieldManagers.machineSet)) repaired = true;
      else if (!repaired) {
        const intent = (): ReturnType<typeof syncedMachine> => syncedMachine(view.set, machine, false);
        const stored = await applyOnce(context, memory, machineResource, machine, fieldManagers.machineSet, token, intent);
        if (stored !== machine) replaceMachine(view, stored);
        if (await syncObjects(view, context, memory, machine, token)) repaired = true;
      }
    } catch (e) {
      failures.push(e);
    }
  }
  if (failures.length > 0) throw joined(failures);
  if (repaired) return { requeueAfterMs: AFTER_REPAIR_MS, stop: true };
}

/** One error for several. */
export const joined = (failures: readonly unknown[]): unknown =>
  failures.length === 1 ? failures[0] : new AggregateError(failures, failures.map(messageOf).join("; "));

async function syncDeleting(view: MachineSetView, { client }: ReconcileContext, machine: Machine): Promise<void> {
  const wanted = specWhileDeleting(view.set);
  const spec = mergePatch(machine.spec, withoutNulls({ ...machine.spec, ...wanted }));
  if (!spec || sameJson(spec, {})) return;
  try {
    replaceMachine(view, await client.patch(machineResource, keyOf(machine), { type: "merge", body: { spec } }));
  } catch (e) {
    unlessGone(e);
  }
}

function withoutNulls(object: object): object {
  return Object.fromEntries(
    Object.entries(object)
      .filter(([, value]) => value !== null)
      .map(([key, value]) => [key, typeof value === "object" && !Array.isArray(value) ? withoutNulls(value) : value]),
  );
}

/** Labels and annotations of the infrastructure and bootstrap object. @returns true when ownership had to be repaired */
async function syncObjects(
  view: MachineSetView,
  context: ReconcileContext,
  memory: AppliedMemory,
  machine: Machine,
  token: string,
): Promise<boolean> {
  const { infrastructureRef, bootstrap } = machine.spec;
  for (const ref of [infrastructureRef, bootstrap.configRef]) {
    if (!ref?.name) continue;
    const read = await readReference(context, machine.metadata.namespace ?? "", ref);
    if (read.state === "later") continue;
    if (read.state === "missing") throw new Error(`${ref.kind} ${ref.name} of Machine ${nameOf(machine)} does not exist`);
    const { resource } = read.kind;
    if (await repairOwnership(context, memory, resource, read.object, fieldManagers.machineSetMetadata)) return true;
    // The apply that made the object owned its labels too; from here on the metadata manager has them, so that it can remove them.
    const object = ownsLabels(read.object) ? await disownMetadata(context, resource, read.object, fieldManagers.machineSet) : read.object;
    const intent = (): Unstructured => ({
      apiVersion: object.apiVersion,
      kind: object.kind,
      metadata: {
        name: object.metadata.name,
        namespace: object.metadata.namespace,
        uid: object.metadata.uid,
        labels: machineLabels(view.set),
        annotations: machineAnnotations(view.set),
      },
    });
    await applyOnce(context, memory, resource, object, fieldManagers.machineSetMetadata, token, intent);
  }
  return false;
}

const ownsLabels = (object: Unstructured): boolean =>
  (object.metadata.managedFields ?? []).some((e) => {
    const metadata = e.fieldsV1?.["f:metadata"];
    return (
      e.manager === fieldManagers.machineSet &&
      e.operation === "Apply" &&
      typeof metadata === "object" &&
      metadata !== null &&
      "f:labels" in metadata
    );
  });

// --- in-place trigger ----------------------------------------------------------------------------------------------------------------

/** Starts the update of machines that were handed over: infrastructure object, bootstrap object, Machine, then the hook, in this order.
 *  Cut short anywhere, the whole sequence runs again; every write may be repeated. */
export async function triggerInPlace(
  view: MachineSetView,
  context: ReconcileContext,
  memory: AppliedMemory,
  surplus: SurplusMemory,
): Promise<void> {
  const { plan, target } = planWithGrace(view, context, surplus);
  const names = machinesToTrigger(setViewOf(view, undefined), machineViews(view), acknowledgedMoves(view.set), plan, target !== undefined);
  const failures: unknown[] = [];
  for (const name of names) {
    try {
      const machine = machineNamed(view, name);
      if (machine) await trigger(view, context, memory, machine);
    } catch (e) {
      failures.push(new Error(`starting the in-place update of Machine ${name}: ${messageOf(e)}`, { cause: e }));
    }
  }
  if (failures.length > 0) throw joined(failures);
}

async function trigger(view: MachineSetView, context: ReconcileContext, memory: AppliedMemory, machine: Machine): Promise<void> {
  const { client } = context;
  await markObject(view, context, machine, machine.spec.infrastructureRef, view.infrastructureTemplate);
  if (machine.spec.bootstrap.configRef) await markObject(view, context, machine, machine.spec.bootstrap.configRef, view.bootstrapTemplate);
  const updated = await applyIntent<Machine>(context, machineResource, syncedMachine(view.set, machine, true), fieldManagers.machineSet);
  // From here on the machine has the set's version: a sync would apply exactly this.
  memory.note(updated, fieldManagers.machineSet, syncToken(view.set));
  const annotations = {
    [pendingAcknowledgeMoveAnnotation]: null,
    [pendingHooksAnnotation]: withPendingHook(updated, UPDATE_MACHINE_HOOK),
  };
  const stored = await client.patch(machineResource, keyOf(machine), { type: "merge", body: { metadata: { annotations } } });
  replaceMachine(view, stored);
  context.record(stored, "Normal", "SuccessfulStartInPlaceUpdate", "Machine starting in-place update");
}

type Ref = { readonly apiGroup: string; readonly kind: string; readonly name: string };

async function markObject(
  view: MachineSetView,
  context: ReconcileContext,
  machine: Machine,
  ref: Ref,
  template: TemplateRead | undefined,
): Promise<void> {
  const read = await readReference(context, machine.metadata.namespace ?? "", ref);
  if (read.state === "later") throw new Error(`${ref.kind} ${ref.name} is not known yet`);
  if (read.state === "missing") throw new Error(`${ref.kind} ${ref.name} does not exist`);
  if (template?.state !== "found") throw new Error(`the template of ${ref.kind} ${ref.name} does not exist`);
  const owned = (read.object.metadata.ownerReferences ?? []).some((o) => o.kind === machineResource.kind);
  const owner = owned ? undefined : referenceTo(machineSetResource, view.set);
  await applyIntent(
    context,
    read.kind.resource,
    desiredInPlace(read.object, template.object, template.ref, owner),
    fieldManagers.machineSet,
  );
}
