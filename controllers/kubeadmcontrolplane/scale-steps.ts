// One Machine more, one Machine less. Here: making and deleting. Not here: whether and which (plan.ts, choose.ts).
// Source: spec/controllers/kubeadmcontrolplane.md sections 8 (creation) and 10.
import { kubeadmConfigResource } from "../../api/kubeadmconfig.ts";
import { kubeadmControlPlaneResource } from "../../api/kubeadmcontrolplane.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { keyOf, type Resource } from "../../api/meta/resource.ts";
import { isNotFound } from "../../api/meta/status.ts";
import { fieldManagers, remediationInProgressAnnotation } from "../../api/names.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import { type AppliedMemory, applyIntent } from "../apply/apply.ts";
import { contractKind } from "../contract/contract.ts";
import { nameFromTemplate } from "../naming/names.ts";
import { referenceTo } from "../ownership/owners.ts";
import { clonedRef, cloneTemplate } from "../templates/clone.ts";
import type { WorkloadClusters } from "../workload/seam.ts";
import { controlPlaneDomains, domainForNew } from "./choose.ts";
import { desiredMachine, machineLabels, newConfig, objectAnnotations } from "./desired.ts";
import { moveLeadership } from "./etcd-steps.ts";
import type { ConfigForm } from "./kubeadm-config.ts";
import { isDeleting, messageOf, nameOf } from "./machines.ts";
import { type Preflight, preflight } from "./preflight.ts";
import { noteApplied } from "./sync.ts";
import { clusterKeyOf, type ControlPlaneView, etcdOf, liveMachines, outdatedMachines, replaceMachine } from "./view.ts";

const DEFAULT_NAME_TEMPLATE = "{{ .kubeadmControlPlane.name }}-{{ .random }}";

/** @param excluding the Machine that is to go, or to be updated */
export function checkPreflight(view: ControlPlaneView, scaleUp: boolean, excluding?: Machine): Preflight {
  const { kcp, cluster, machines, managedEtcd } = view;
  const result = preflight({ kcp, cluster, machines, managedEtcd, scaleUp, excluding, ...etcdOf(view) });
  view.preflightFlags = result.flags;
  return result;
}

/** Ends the run, with an Event when it is about health and says something new. */
export function waitForPreflight(view: ControlPlaneView, { record }: ReconcileContext, result: Preflight): StepOutcome {
  const uid = view.kcp.metadata.uid ?? "";
  if (result.flags.includes("components") || result.flags.includes("etcd")) {
    const text = `Waiting for control plane to pass preflight checks to continue reconciliation: ${result.because.join("; ")}`;
    if (view.told.get(uid) !== text) record(view.kcp, "Warning", "ControlPlaneUnhealthy", text);
    view.told.set(uid, text);
  }
  return { requeueAfterMs: result.requeueAfterMs, stop: true };
}

export async function scaleUp(view: ControlPlaneView, context: ReconcileContext, memory: AppliedMemory): Promise<StepOutcome> {
  const check = checkPreflight(view, true);
  return check.passes ? create(view, context, memory, "join") : waitForPreflight(view, context, check);
}

/** The first Machine needs no preflight: there is nothing to lose. */
export const initialize = (view: ControlPlaneView, context: ReconcileContext, memory: AppliedMemory): Promise<StepOutcome> =>
  create(view, context, memory, "init");

async function create(view: ControlPlaneView, context: ReconcileContext, memory: AppliedMemory, form: ConfigForm): Promise<StepOutcome> {
  try {
    await deleteLeftovers(view, context);
    const machine = await createMachine(view, context, form);
    noteApplied(view, memory, machine);
    replaceMachine(view, machine);
  } catch (e) {
    context.record(
      view.kcp,
      "Warning",
      form === "init" ? "FailedInitialization" : "FailedScaleUp",
      `Failed to create a control plane Machine for cluster ${nameOf(view.cluster)}: ${messageOf(e)}`,
    );
    throw e;
  }
  await dropRemediationMark(view, context);
  return { stop: true };
}

/** The replacement exists and carries the mark from now on. */
export async function dropRemediationMark(view: ControlPlaneView, { client }: ReconcileContext): Promise<void> {
  if (view.kcp.metadata.annotations?.[remediationInProgressAnnotation] === undefined) return;
  const body = { metadata: { annotations: { [remediationInProgressAnnotation]: null } } };
  view.kcp = await client.patch(kubeadmControlPlaneResource, keyOf(view.kcp), { type: "merge", body });
}

interface Made {
  readonly resource: Resource;
  readonly object: KubeObject;
}

/** Infrastructure object, KubeadmConfig, Machine, all of one name. What a failure leaves is deleted again. */
async function createMachine(view: ControlPlaneView, context: ReconcileContext, form: ConfigForm): Promise<Machine> {
  const { kcp, template } = view;
  const cluster = nameOf(view.cluster);
  const namespace = kcp.metadata.namespace ?? "";
  if (!template.object) throw templateError(view);
  const name = nameFromTemplate(
    kcp.spec.machineNaming?.template ?? DEFAULT_NAME_TEMPLATE,
    { "cluster.name": cluster, "kubeadmControlPlane.name": nameOf(kcp) },
    context.random,
  );
  const outdated = outdatedMachines(view);
  const live = liveMachines(view);
  const upToDate = live.filter((m) => !outdated.includes(m));
  const infrastructureRef = clonedRef(template.ref, name);
  const infra = cloneTemplate({
    template: template.object,
    templateRef: template.ref,
    name,
    namespace,
    clusterName: cluster,
    labels: machineLabels(kcp, cluster),
    annotations: objectAnnotations(kcp),
    owner: referenceTo(kubeadmControlPlaneResource, kcp),
  });
  const made: Made[] = [];
  const apply = async (resource: Resource, object: KubeObject): Promise<void> => {
    made.push({ resource, object: await applyIntent(context, resource, object, fieldManagers.kubeadmControlPlane) });
  };
  let asked = false;
  try {
    await apply(contractKind(context.cache, infrastructureRef).resource, infra);
    await apply(kubeadmConfigResource, newConfig(kcp, cluster, name, form));
    const intent = desiredMachine(kcp, cluster, {
      name,
      version: kcp.spec.version,
      failureDomain: domainForNew(live, upToDate, controlPlaneDomains(view.cluster)),
      infrastructureRef,
      bootstrap: { configRef: { apiGroup: kubeadmConfigResource.group, kind: kubeadmConfigResource.kind, name } },
      remediationFor: kcp.metadata.annotations?.[remediationInProgressAnnotation],
    });
    asked = true;
    return await applyIntent<Machine>(context, machineResource, intent, fieldManagers.kubeadmControlPlane);
  } catch (e) {
    // An answer that was lost: the Machine may well exist, and needs its objects. If it does not, the next creation clears them away.
    const failures = asked && !isRefusal(e) ? [] : await deleteMade(context, made);
    throw new Error(`creating Machine ${name}: ${[messageOf(e), ...failures].join("; ")}`, { cause: e });
  }
}

/** The server said no: nothing was stored. */
const isRefusal = (e: unknown): boolean => {
  const code = (e as { code?: unknown } | undefined)?.code;
  return typeof code === "number" && code >= 400 && code < 500;
};

async function deleteMade({ client }: ReconcileContext, made: readonly Made[]): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const { resource, object } of [...made].reverse()) {
    await client.delete(resource, keyOf(object)).catch((e: unknown) => {
      if (!isNotFound(e)) failures.push(messageOf(e));
    });
  }
  return failures;
}

export function templateError({ template }: ControlPlaneView): Error {
  if (template.error) return template.error;
  return new Error(
    `${template.ref.kind} ${template.ref.name} does not exist: create it, or change spec.machineTemplate.spec.infrastructureRef`,
  );
}

/** Objects of a creation that was cut short before its Machine: still owned by this control plane, named by no Machine. */
async function deleteLeftovers(view: ControlPlaneView, context: ReconcileContext): Promise<void> {
  const used = new Set(
    view.machines.flatMap((m) => [m.spec.infrastructureRef, m.spec.bootstrap.configRef].flatMap((r) => (r ? [`${r.kind}/${r.name}`] : []))),
  );
  const infra = contractKind(context.cache, clonedRef(view.template.ref, "")).resource;
  if (!context.watchAlso({ resource: infra, keys: () => [] })) return;
  for (const resource of [infra, kubeadmConfigResource] as readonly Resource[]) {
    const left = context.cache
      .ownedBy(resource, view.kcp.metadata.uid ?? "")
      .filter((o) => !isDeleting(o) && !used.has(`${o.kind}/${o.metadata.name}`));
    for (const object of left) {
      await context.client.delete(resource, keyOf(object), { preconditions: { uid: object.metadata.uid } }).catch((e: unknown) => {
        if (!isNotFound(e)) throw e;
      });
    }
  }
}

/** Deletes a Machine that may go; its etcd member leaves later, by the pre-terminate hook. */
export async function scaleDown(
  view: ControlPlaneView,
  context: ReconcileContext,
  clusters: WorkloadClusters,
  machine: Machine,
): Promise<StepOutcome> {
  const check = checkPreflight(view, false, machine);
  if (!check.passes) return waitForPreflight(view, context, check);
  try {
    if (view.managedEtcd) await moveLeadership(view, clusters.get(clusterKeyOf(view)), machine);
    await deleteMachine(context, machine);
  } catch (e) {
    context.record(view.kcp, "Warning", "FailedScaleDown", `Failed to delete control plane Machine ${nameOf(machine)}: ${messageOf(e)}`);
    throw e;
  }
  return { stop: true };
}

export async function deleteMachine({ client }: ReconcileContext, machine: Machine): Promise<void> {
  await client.delete(machineResource, keyOf(machine), { preconditions: { uid: machine.metadata.uid } }).catch((e: unknown) => {
    if (!isNotFound(e)) throw e;
  });
}
