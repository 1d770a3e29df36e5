// Steps of a MachineSet that change how many machines it has: make, delete, hand over, and clear away what a failed creation left.
// Not here: how many and which (plan.ts). Source: spec/controllers/machineset.md sections 3, 5, 6, inplace-workers.md 5.1.
import { type Machine, machineResource } from "../../api/machine.ts";
import { machineSetResource } from "../../api/machineset.ts";
import { keyOf } from "../../api/meta/resource.ts";
import { isConflict, isNotFound } from "../../api/meta/status.ts";
import {
  fieldManagers,
  machineDeploymentUniqueLabel,
  machineSetFinalizer,
  pendingAcknowledgeMoveAnnotation,
  updateInProgressAnnotation,
} from "../../api/names.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import { removeFinalizer } from "../../runtime/patch.ts";
import { applyIntent } from "../apply/apply.ts";
import type { ContractKind, ContractRef, Unstructured } from "../contract/contract.ts";
import { contractKind } from "../contract/contract.ts";
import { nameFromTemplate } from "../naming/names.ts";
import { controllerOf, referenceTo } from "../ownership/owners.ts";
import { matches } from "../ownership/selector.ts";
import { clonedRef, cloneTemplate } from "../templates/clone.ts";
import { readReference, type TemplateRead } from "../templates/read.ts";
import { machineAnnotations, machineLabels, newMachine } from "./desired.ts";
import { preflightFailures } from "./preflight.ts";
import { planWithGrace, type SurplusMemory } from "./surplus.ts";
import { isDeleting, type MachineSetView, machineNamed, nameOf, type Target } from "./view.ts";

/** Both sets are written in one go, the receiver first: this lasts as long as a cache is behind. */
const TARGET_RETRY_MS = 1_000;
const PREFLIGHT_RETRY_MS = 15_000;
const DEFAULT_NAME_TEMPLATE = "{{ .machineSet.name }}-{{ .random }}";

export async function scale(view: MachineSetView, context: ReconcileContext, surplus: SurplusMemory): Promise<StepOutcome> {
  // Unset is not zero: nothing is made or deleted until admission or a person says how many there shall be.
  if (view.set.spec.replicas === undefined) return;
  await deleteLeftovers(view, context);
  const { plan, target, lookAgainMs } = planWithGrace(view, context, surplus);
  if (plan.do === "create") return create(view, context, plan.count);
  if (plan.do === "waitForTarget") {
    context.log.debug("the receiving MachineSet does not list this one yet", { target: plan.target });
    return { requeueAfterMs: TARGET_RETRY_MS };
  }
  if (plan.do === "remove") {
    await remove(view, context, plan.delete);
    if (target) await move(view, context, plan.move, target);
  }
  return lookAgainMs === undefined ? undefined : { requeueAfterMs: lookAgainMs };
}

// --- making --------------------------------------------------------------------------------------------------------------------------

/** Texts of failed checks; also kept in the view, for the condition. */
export async function checkPreflight(view: MachineSetView, context: ReconcileContext): Promise<readonly string[]> {
  if (!context.gates.enabled("MachineSetPreflightChecks")) return [];
  const ref = view.cluster.spec.controlPlaneRef;
  if (!ref?.name) return [];
  const read = await readReference(context, view.set.metadata.namespace ?? "", ref);
  if (read.state === "missing") throw new Error(`${ref.kind} ${ref.name} of the Cluster does not exist: machines cannot join`);
  if (read.state === "later") return ["The control plane object is being read"];
  const bootstrapTemplate = view.bootstrapTemplate?.state === "found" ? view.bootstrapTemplate.object : undefined;
  const failures = preflightFailures({ set: view.set, cluster: view.cluster, controlPlane: read.object, bootstrapTemplate });
  view.preflightFailures.splice(0, view.preflightFailures.length, ...failures);
  return failures;
}

async function create(view: MachineSetView, context: ReconcileContext, count: number): Promise<StepOutcome> {
  const failures = await checkPreflight(view, context);
  if (failures.length > 0) return { requeueAfterMs: PREFLIGHT_RETRY_MS };
  for (let i = 0; i < count; i++) {
    const machine = await createOne(view, context).catch((e: unknown) => {
      context.record(view.set, "Warning", "FailedCreate", e instanceof Error ? e.message : String(e));
      throw e;
    });
    view.machines = [...view.machines, machine].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    context.record(view.set, "Normal", "SuccessfulCreate", `Created Machine "${nameOf(machine)}"`);
  }
}

/** Bootstrap object, infrastructure object, Machine. What a failure leaves is deleted again. */
async function createOne(view: MachineSetView, context: ReconcileContext): Promise<Machine> {
  const { set, cluster } = view;
  const template = set.spec.machineNaming?.template ?? DEFAULT_NAME_TEMPLATE;
  const name = nameFromTemplate(template, { "cluster.name": nameOf(cluster), "machineSet.name": nameOf(set) }, context.random);
  const { infrastructureRef, bootstrap } = set.spec.template.spec;
  const made: Made[] = [];
  let asked = false;
  try {
    const configRef = bootstrap.configRef?.name
      ? await createObject(view, context, name, bootstrap.configRef, view.bootstrapTemplate, made)
      : undefined;
    const infraRef = await createObject(view, context, name, infrastructureRef, view.infrastructureTemplate, made);
    const intent = newMachine(set, name, { infrastructureRef: infraRef, configRef });
    asked = true;
    return await applyIntent<Machine>(context, machineResource, intent, fieldManagers.machineSet);
  } catch (e) {
    const failures: unknown[] = [e];
    // An answer that was lost: the Machine may well exist, and needs its objects. Only who knows that it does not may take them away.
    if (asked && !isRefusal(e)) {
      const stored = await context.client
        .get(machineResource, { namespace: set.metadata.namespace ?? "", name })
        .catch((read: unknown) => read);
      if (!isNotFound(stored)) {
        if (!(stored instanceof Error)) return stored as Machine;
        throw new Error(`creating Machine ${name}: ${messageOf(e)}; whether it exists is not known: ${messageOf(stored)}`, { cause: e });
      }
    }
    for (const { kind, object } of made.reverse()) {
      await context.client.delete(kind.resource, keyOf(object)).catch((cleanUp: unknown) => {
        if (!isNotFound(cleanUp)) failures.push(cleanUp);
      });
    }
    throw new Error(`creating Machine ${name}: ${failures.map(messageOf).join("; ")}`, { cause: e });
  }
}

const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e));

/** The server said no: nothing was stored. */
const isRefusal = (e: unknown): boolean => {
  const code = (e as { code?: unknown } | undefined)?.code;
  return typeof code === "number" && code >= 400 && code < 500;
};

interface Made {
  readonly kind: ContractKind;
  readonly object: Unstructured;
}

/** @returns the reference the Machine gets; a reference that is no template is taken as it is */
async function createObject(
  view: MachineSetView,
  context: ReconcileContext,
  name: string,
  templateRef: ContractRef,
  template: TemplateRead | undefined,
  made: Made[],
): Promise<ContractRef> {
  if (!template) return templateRef;
  if (template.state === "failed") throw template.error;
  if (template.state !== "found") throw new Error(`${templateRef.kind} ${templateRef.name} does not exist`);
  const { set } = view;
  const ref = clonedRef(templateRef, name);
  const kind = contractKind(context.cache, ref);
  const clone = cloneTemplate({
    template: template.object,
    templateRef,
    name,
    namespace: set.metadata.namespace ?? "",
    clusterName: set.spec.clusterName,
    labels: machineLabels(set),
    annotations: machineAnnotations(set),
    owner: referenceTo(machineSetResource, set),
  });
  made.push({ kind, object: await applyIntent(context, kind.resource, clone, fieldManagers.machineSet) });
  return ref;
}

/** Objects of a creation that was cut short before its Machine: still owned by this set, named by no Machine. */
async function deleteLeftovers(view: MachineSetView, context: ReconcileContext): Promise<void> {
  const known = [...view.machines, ...view.strays];
  const used = new Set(
    known.flatMap((m) => [m.spec.infrastructureRef, m.spec.bootstrap.configRef].flatMap((r) => (r ? [`${r.kind}/${r.name}`] : []))),
  );
  for (const template of [view.infrastructureTemplate, view.bootstrapTemplate]) {
    if (!template || template.state === "failed") continue;
    const kind = contractKind(context.cache, clonedRef(template.ref, ""));
    if (!context.watchAlso({ resource: kind.resource, keys: () => [] })) continue;
    const left = context.cache
      .ownedBy(kind.resource, view.set.metadata.uid ?? "")
      .filter((o) => o.metadata.deletionTimestamp === undefined && matches(view.selector, o.metadata.labels))
      .filter((o) => !used.has(`${o.kind}/${o.metadata.name}`));
    for (const object of left) await context.client.delete(kind.resource, keyOf(object)).catch(unlessNotFound);
  }
}

const unlessNotFound = (e: unknown): void => {
  if (!isNotFound(e)) throw e;
};

// --- fewer ---------------------------------------------------------------------------------------------------------------------------

async function remove(view: MachineSetView, context: ReconcileContext, names: readonly string[]): Promise<void> {
  const failures: unknown[] = [];
  for (const name of names) {
    const machine = machineNamed(view, name);
    if (!machine) continue;
    try {
      await context.client.delete(machineResource, keyOf(machine), { preconditions: { uid: machine.metadata.uid } });
      view.deletedNow.add(name);
      context.record(view.set, "Normal", "SuccessfulDelete", `Deleted Machine "${name}"`);
    } catch (e) {
      if (!isNotFound(e)) failures.push(e);
    }
  }
  if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures, failures.map(String).join("; "));
}

/** Hands machines over: owner, hash label and both marks in one write. A machine that somebody changed meanwhile is looked at again. */
async function move(view: MachineSetView, context: ReconcileContext, names: readonly string[], target: Target): Promise<void> {
  const { set: newSet, hash } = target;
  if (!newSet || !hash) return;
  for (const name of names) {
    const machine = machineNamed(view, name);
    if (!machine) continue;
    const others = (machine.metadata.ownerReferences ?? []).filter((o) => o.uid !== controllerOf(machine)?.uid);
    const metadata = {
      resourceVersion: machine.metadata.resourceVersion,
      ownerReferences: [...others, { ...referenceTo(machineSetResource, newSet), controller: true }],
      labels: { [machineDeploymentUniqueLabel]: hash },
      annotations: { [updateInProgressAnnotation]: "", [pendingAcknowledgeMoveAnnotation]: "" },
    };
    try {
      await context.client.patch(machineResource, keyOf(machine), { type: "merge", body: { metadata } });
      view.machines = view.machines.filter((m) => nameOf(m) !== name);
    } catch (e) {
      if (!isConflict(e) && !isNotFound(e)) throw e;
    }
  }
}

// --- deletion of the set -------------------------------------------------------------------------------------------------------------

export async function deleteMachines(view: MachineSetView, context: ReconcileContext): Promise<void> {
  if (view.machines.length === 0) {
    await removeFinalizer(context.client, machineSetResource, view.set, machineSetFinalizer);
    view.gone = true;
    return;
  }
  for (const machine of view.machines.filter((m) => !isDeleting(m))) {
    await context.client.delete(machineResource, keyOf(machine), { preconditions: { uid: machine.metadata.uid } }).catch(unlessNotFound);
  }
}
