// The question to an update extension: a Machine and its objects as they are, and as they would be. Here: building it with dry runs, so that
// defaults and fields of other owners are no differences. Not here: what is made of the answer (plan.ts).
// Source: spec/controllers/kubeadmcontrolplane-inplace.md section 5.
import type { KubeadmConfigSpec } from "../../api/kubeadmconfig.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import type { Resource } from "../../api/meta/resource.ts";
import { isForbidden, isInvalid } from "../../api/meta/status.ts";
import { fieldManagers } from "../../api/names.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { intentOf } from "../apply/apply.ts";
import type { Unstructured } from "../contract/contract.ts";
import type { MachineQuestion } from "../inplace/ask-machine.ts";
import { cloneTemplate } from "../templates/clone.ts";
import { machineLabels, objectAnnotations, syncedMachine } from "./desired.ts";
import { messageOf, nameOf } from "./machines.ts";
import { type ControlPlaneView, configFor, infrastructureOf, verdictOf } from "./view.ts";

/** Why nobody needs to be asked: the Machine cannot be updated in place. */
export interface Unaskable {
  readonly reason: string;
}

const dryRun = <K extends KubeObject>({ client }: ReconcileContext, resource: Resource<K>, intent: KubeObject): Promise<K> =>
  client.apply(resource, intentOf(intent), { fieldManager: fieldManagers.kubeadmControlPlane, force: true, dryRun: true });

export async function buildQuestion(
  view: ControlPlaneView,
  context: ReconcileContext,
  machine: Machine,
): Promise<MachineQuestion | Unaskable> {
  const { kcp, template } = view;
  const infrastructure = infrastructureOf(view, machine);
  const config = configFor(view, machine);
  const kind = view.infrastructure.get(nameOf(machine))?.kind;
  if (!infrastructure || !kind)
    return { reason: `${machine.spec.infrastructureRef.kind} ${machine.spec.infrastructureRef.name} is not there` };
  if (!template.object) return { reason: `${template.ref.kind} ${template.ref.name} does not exist` };
  if (machine.spec.bootstrap.configRef && !config) return { reason: `KubeadmConfig ${machine.spec.bootstrap.configRef.name} is not there` };

  const desiredMachine = await dryRun<Machine>(
    context,
    machineResource,
    syncedMachine(kcp, nameOf(view.cluster), machine, kcp.spec.version),
  );
  const desired = identityOf(cloneOf(view, infrastructure, template.object), infrastructure);
  const current: Unstructured = { ...identityOf(infrastructure, infrastructure), metadata: desired.metadata };
  const objects: Unstructured[] = [];
  for (const intent of [current, desired]) {
    try {
      objects.push(await dryRun(context, kind.resource, intent));
    } catch (e) {
      // The provider says that this object cannot become that. Anything else is a fault, and no answer.
      if (!isInvalid(e) && !isForbidden(e)) throw e;
      return { reason: `${infrastructure.kind} ${nameOf(infrastructure)} cannot be changed: ${messageOf(e)}` };
    }
  }
  const [currentInfrastructure, desiredInfrastructure] = objects;
  if (!currentInfrastructure || !desiredInfrastructure) return { reason: "the infrastructure object gave no answer" };
  const comparison = verdictOf(view, machine).config;
  const withSpec = (spec: KubeadmConfigSpec | undefined): { readonly bootstrapConfig?: Unstructured } =>
    config && spec ? { bootstrapConfig: { ...shared(view, config), spec } as unknown as Unstructured } : {};
  return {
    current: { machine, infrastructureMachine: currentInfrastructure, ...withSpec(comparison?.current) },
    desired: { machine: desiredMachine, infrastructureMachine: desiredInfrastructure, ...withSpec(comparison?.desired) },
  };
}

const cloneOf = (view: ControlPlaneView, existing: Unstructured, template: Unstructured): Unstructured =>
  cloneTemplate({
    template,
    templateRef: view.template.ref,
    name: nameOf(existing),
    namespace: existing.metadata.namespace ?? "",
    clusterName: nameOf(view.cluster),
    labels: machineLabels(view.kcp, nameOf(view.cluster)),
    annotations: objectAnnotations(view.kcp),
  });

/** Spec and metadata of `from`, as the object that exists. `uid` keeps the dry run from creating. */
const identityOf = (from: Unstructured, existing: Unstructured): Unstructured => ({
  apiVersion: existing.apiVersion,
  kind: existing.kind,
  metadata: { ...from.metadata, uid: existing.metadata.uid, ownerReferences: undefined, finalizers: undefined },
  ...(from.spec ? { spec: from.spec } : {}),
});

/** A KubeadmConfig with the metadata that it should have; what it is compared by is its spec. */
const shared = ({ kcp, cluster }: ControlPlaneView, config: KubeObject): KubeObject => ({
  apiVersion: config.apiVersion,
  kind: config.kind,
  metadata: {
    name: config.metadata.name,
    namespace: config.metadata.namespace,
    labels: machineLabels(kcp, nameOf(cluster)),
    annotations: objectAnnotations(kcp),
  },
});
