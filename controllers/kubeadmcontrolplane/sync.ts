// Fields that follow the control plane without a rollout: put on Machines and their objects. Here: the step.
// Not here: what they should be (desired.ts). Source: spec/controllers/kubeadmcontrolplane.md section 8.
import { kubeadmConfigResource } from "../../api/kubeadmconfig.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import type { KubeObject, ManagedFieldsEntry } from "../../api/meta/object.ts";
import { apiVersionOf, keyOf, type Resource } from "../../api/meta/resource.ts";
import { isConflict, isNotFound } from "../../api/meta/status.ts";
import { clusterNameLabel, fieldManagers } from "../../api/names.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import { mergePatch, sameJson } from "../../runtime/patch.ts";
import { type AppliedMemory, applyOnce, disownMetadata, needsOwnershipRepair, repairOwnership } from "../apply/apply.ts";
import { fnv32a } from "../naming/names.ts";
import { specWhileDeleting, syncedMachine, syncedMetadata } from "./desired.ts";
import { isDeleting, nameOf } from "./machines.ts";
import { type ControlPlaneView, configFor, infrastructureOf, replaceMachine } from "./view.ts";

const AFTER_REPAIR_MS = 1_000;
const SPEC_MANAGER = fieldManagers.kubeadmControlPlane;
const METADATA_MANAGER = fieldManagers.kubeadmControlPlaneMetadata;

const tokenOf = (intent: object): string => {
  const text = JSON.stringify(intent);
  return `${text.length}/${fnv32a(text)}`;
};

/** A Machine that was just applied holds what the next sync would apply. */
export function noteApplied(view: ControlPlaneView, memory: AppliedMemory, stored: Machine): void {
  memory.note(stored, SPEC_MANAGER, tokenOf(syncedMachine(view.kcp, nameOf(view.cluster), stored)));
}

export async function syncMachines(view: ControlPlaneView, context: ReconcileContext, memory: AppliedMemory): Promise<StepOutcome> {
  const failures: unknown[] = [];
  let repaired = false;
  for (const machine of view.machines) {
    try {
      if (isDeleting(machine)) await syncDeleting(view, context, machine);
      else if (await repairOwnership(context, memory, machineResource, machine, SPEC_MANAGER)) repaired = true;
      else if (!repaired && (await syncLive(view, context, memory, machine))) repaired = true;
    } catch (e) {
      // It went meanwhile: the next event tells.
      if (isNotFound(e)) return { stop: true };
      if (!isConflict(e)) failures.push(e);
      else repaired = true;
    }
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, failures.map(String).join("; "));
  return repaired ? { requeueAfterMs: AFTER_REPAIR_MS, stop: true } : undefined;
}

async function syncDeleting(view: ControlPlaneView, { client }: ReconcileContext, machine: Machine): Promise<void> {
  const patch = mergePatch(machine.spec, withoutNulls({ ...machine.spec, ...specWhileDeleting(view.kcp) }));
  if (!patch || sameJson(patch, {})) return;
  replaceMachine(view, await client.patch(machineResource, keyOf(machine), { type: "merge", body: { spec: patch } }));
}

function withoutNulls(object: object): object {
  return Object.fromEntries(
    Object.entries(object)
      .filter(([, value]) => value !== null)
      .map(([key, value]) => [key, typeof value === "object" && !Array.isArray(value) ? withoutNulls(value) : value]),
  );
}

/** @returns true when ownership was put right: the next run applies on top of it */
async function syncLive(view: ControlPlaneView, context: ReconcileContext, memory: AppliedMemory, machine: Machine): Promise<boolean> {
  const intent = syncedMachine(view.kcp, nameOf(view.cluster), machine);
  const stored = await applyOnce(context, memory, machineResource, machine, SPEC_MANAGER, tokenOf(intent), () => intent);
  if (stored !== machine) replaceMachine(view, stored);
  const infra = infrastructureOf(view, machine);
  const read = view.infrastructure.get(nameOf(machine));
  if (infra && read?.kind && !isDeleting(infra)) {
    const synced = await syncObject(view, context, memory, read.kind.resource, infra);
    if (synced === "repaired") return true;
    read.object = synced;
  }
  const config = configFor(view, machine);
  if (config && !isDeleting(config)) {
    const synced = await syncObject(view, context, memory, kubeadmConfigResource, config);
    if (synced === "repaired") return true;
    view.configs.set(nameOf(machine), synced);
  }
  return false;
}

async function syncObject<K extends KubeObject>(
  view: ControlPlaneView,
  context: ReconcileContext,
  memory: AppliedMemory,
  resource: Resource<K>,
  object: K,
): Promise<K | "repaired"> {
  const intent = syncedMetadata(view.kcp, nameOf(view.cluster), object);
  const token = tokenOf(intent);
  if (memory.isApplied(object, METADATA_MANAGER, token, () => intent)) return object;
  if (needsOwnershipRepair(object)) {
    await repairOwnership(context, memory, resource, object, METADATA_MANAGER);
    return "repaired";
  }
  const former = formerEntry(object);
  if (former && former.fieldsV1?.["f:spec"] === undefined) {
    await migrate(context, resource, object);
    return "repaired";
  }
  // Right after an object was made its labels belong to the apply that made it.
  const ours = former ? await disownMetadata(context, resource, object, SPEC_MANAGER) : object;
  return applyOnce(context, memory, resource, ours, METADATA_MANAGER, token, () => intent);
}

/** The entry of the spec manager while it owns the labels. Without a spec in it, it is that of a release up to 1.11. */
const formerEntry = (object: KubeObject): ManagedFieldsEntry | undefined =>
  (object.metadata.managedFields ?? []).find((e) => e.manager === SPEC_MANAGER && e.operation === "Apply" && holds(e, clusterNameLabel));

function holds(entry: ManagedFieldsEntry, label: string): boolean {
  const metadata = entry.fieldsV1?.["f:metadata"] as { readonly "f:labels"?: object } | undefined;
  return metadata?.["f:labels"] !== undefined && `f:${label}` in metadata["f:labels"];
}

/** Takes away everything that older releases own, so that only the two managers of today are left. */
async function migrate<K extends KubeObject>({ client, clock }: ReconcileContext, resource: Resource<K>, object: K): Promise<void> {
  const seed: ManagedFieldsEntry = {
    manager: METADATA_MANAGER,
    operation: "Apply",
    apiVersion: apiVersionOf(resource),
    time: timestamp(clock.nowMs()),
    fieldsType: "FieldsV1",
    fieldsV1: { "f:metadata": { "f:name": {} } },
  };
  const kept = (object.metadata.managedFields ?? []).filter(
    (e) =>
      !(e.manager === SPEC_MANAGER && e.operation === "Apply") &&
      !(e.manager === fieldManagers.default && e.operation === "Update" && e.subresource === undefined),
  );
  const managedFields = kept.some((e) => e.manager === METADATA_MANAGER) ? kept : [...kept, seed];
  const { resourceVersion } = object.metadata;
  await client.patch(resource, keyOf(object), { type: "merge", body: { metadata: { resourceVersion, managedFields } } });
}
