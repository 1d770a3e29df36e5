// Starting an update in place: marks and new specs in an order that any restart can pick up. Here: the writes.
// Not here: deciding (rollout-steps.ts), doing the update (the Machine controller and its extension).
// Source: spec/controllers/kubeadmcontrolplane-inplace.md sections 1, 6 and 7.
import { kubeadmConfigResource } from "../../api/kubeadmconfig.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { keyOf } from "../../api/meta/resource.ts";
import { fieldManagers, pendingHooksAnnotation, updateInProgressAnnotation } from "../../api/names.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import { type AppliedMemory, applyIntent } from "../apply/apply.ts";
import { hasMark, hasPendingHook, isUpdatingInPlace, UPDATE_MACHINE_HOOK, withPendingHook } from "../inplace/marks.ts";
import { desiredInPlace } from "../templates/clone.ts";
import { configInPlace, syncedMachine } from "./desired.ts";
import { messageOf, nameOf } from "./machines.ts";
import { templateError } from "./scale-steps.ts";
import { noteApplied } from "./sync.ts";
import { type ControlPlaneView, configFor, infrastructureOf, liveMachines, replaceMachine } from "./view.ts";

const MANAGER = fieldManagers.kubeadmControlPlane;

/** Marked, but the Machine controller may not start yet: somebody was stopped in the middle of triggering. */
const isTriggering = (machine: Machine): boolean =>
  hasMark(machine, updateInProgressAnnotation) && !hasPendingHook(machine, UPDATE_MACHINE_HOOK);

/** Completes updates that were begun, with the newest wish and whatever the gate says. */
export async function resumeTriggers(view: ControlPlaneView, context: ReconcileContext, memory: AppliedMemory): Promise<StepOutcome> {
  const begun = liveMachines(view).filter(isTriggering);
  for (const machine of begun) await trigger(view, context, machine, memory);
  return begun.length > 0 ? { stop: true } : undefined;
}

/** One Machine at a time. */
export function waitForUpdates(view: ControlPlaneView): StepOutcome {
  const running = liveMachines(view).filter(isUpdatingInPlace);
  return running.length > 0 ? { stop: true } : undefined;
}

/** From the first write on there is no way back: a Machine that is marked will be updated. */
export async function trigger(view: ControlPlaneView, context: ReconcileContext, machine: Machine, memory: AppliedMemory): Promise<void> {
  try {
    await write(view, context, machine, memory);
  } catch (e) {
    const text = `the in-place update of Machine ${nameOf(machine)} could not be started: ${messageOf(e)}`;
    view.notes.waiting.push(text);
    throw new Error(text, { cause: e });
  }
}

async function write(view: ControlPlaneView, context: ReconcileContext, machine: Machine, memory: AppliedMemory): Promise<void> {
  const { kcp } = view;
  const key = keyOf(machine);
  const annotate = async (annotations: Readonly<Record<string, string>>): Promise<Machine> => {
    const stored = await context.client.patch(machineResource, key, { type: "merge", body: { metadata: { annotations } } });
    replaceMachine(view, stored);
    return stored;
  };
  // Marks are plain patches: an apply would put them back after the Machine controller took them off.
  if (!hasMark(machine, updateInProgressAnnotation)) await annotate({ [updateInProgressAnnotation]: "" });
  await writeInfrastructure(view, context, machine);
  await writeConfig(view, context, machine);
  const intent = syncedMachine(kcp, nameOf(view.cluster), machine, kcp.spec.version);
  const updated = await applyIntent<Machine>(context, machineResource, intent, MANAGER);
  replaceMachine(view, updated);
  const stored = await annotate({ [pendingHooksAnnotation]: withPendingHook(updated, UPDATE_MACHINE_HOOK) });
  noteApplied(view, memory, stored);
  context.record(stored, "Normal", "SuccessfulStartInPlaceUpdate", "Machine starting in-place update");
}

/** First among the specs, since it is the one most likely to be refused. */
async function writeInfrastructure(view: ControlPlaneView, context: ReconcileContext, machine: Machine): Promise<void> {
  const existing = infrastructureOf(view, machine);
  const read = view.infrastructure.get(nameOf(machine));
  if (!existing || !read?.kind)
    throw new Error(`${machine.spec.infrastructureRef.kind} ${machine.spec.infrastructureRef.name} is not there`);
  if (!view.template.object) throw templateError(view);
  const intent = desiredInPlace(existing, view.template.object, view.template.ref);
  read.object = await applyIntent(context, read.kind.resource, intent, MANAGER);
}

async function writeConfig(view: ControlPlaneView, context: ReconcileContext, machine: Machine): Promise<void> {
  const { configRef } = machine.spec.bootstrap;
  if (!configRef) return;
  const existing = configFor(view, machine);
  if (!existing) throw new Error(`KubeadmConfig ${configRef.name} is not there`);
  let stored = await applyIntent(context, kubeadmConfigResource, configInPlace(view.kcp, existing), MANAGER);
  // Objects of older releases: nobody owns the init part any more, so the apply does not take it away.
  if (stored.spec?.initConfiguration !== undefined) {
    const body = { spec: { initConfiguration: null } };
    stored = await context.client.patch(kubeadmConfigResource, keyOf(existing), { type: "merge", body });
  }
  view.configs.set(nameOf(machine), stored);
}
