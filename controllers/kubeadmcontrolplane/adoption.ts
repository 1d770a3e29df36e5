// Taking over control plane Machines that nobody controls. Here: the checks and the writes.
// Source: spec/controllers/kubeadmcontrolplane.md section 14.
import { secretResource } from "../../api/core/index.ts";
import type { KubeadmConfig } from "../../api/kubeadmconfig.ts";
import { kubeadmConfigResource } from "../../api/kubeadmconfig.ts";
import { kubeadmControlPlaneResource } from "../../api/kubeadmcontrolplane.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { keyOf } from "../../api/meta/resource.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import { adopt, controllerReferenceTo } from "../ownership/owners.ts";
import { parseVersion } from "../rollout/versions.ts";
import { namesOf } from "./choose.ts";
import { isDeleting, nameOf } from "./machines.ts";
import { clusterKeyOf, type ControlPlaneView } from "./view.ts";

/** Two owners of one control plane would work against each other. */
export function refuseForeign({ foreign, cluster }: ControlPlaneView): void {
  if (foreign.length === 0) return;
  throw new Error(
    `control plane Machines ${namesOf(foreign)} of Cluster ${nameOf(cluster)} are controlled by something else: mixed management is not supported`,
  );
}

export async function adoptMachines(view: ControlPlaneView, context: ReconcileContext): Promise<StepOutcome> {
  const { orphans } = view;
  if (orphans.length === 0) return undefined;
  const kcp = await context.client.get(kubeadmControlPlaneResource, keyOf(view.kcp));
  if (isDeleting(kcp)) throw new Error("this KubeadmControlPlane is being deleted: it adopts no Machines");
  const skewed = orphans.find((m) => !isNear(m.spec.version, kcp.spec.version));
  if (skewed) {
    const text = `Could not adopt Machine ${nameOf(skewed)}: its version (${skewed.spec.version}) is more than one minor version away from the KubeadmControlPlane's (${kcp.spec.version})`;
    context.record(kcp, "Warning", "AdoptionFailed", text);
    return { stop: true };
  }
  const configs = orphans.map((m) => [m, configOf(m, context)] as const);
  for (const [machine, config] of configs) {
    if (config) await takeSecrets(view, context, config);
    await adopt(context.client, machineResource, machine, kubeadmControlPlaneResource, kcp);
  }
  return { stop: true };
}

/** @throws Error for a Machine that was not made with kubeadm */
function configOf(machine: Machine, { cache }: ReconcileContext): KubeadmConfig | undefined {
  const ref = machine.spec.bootstrap.configRef;
  if (ref?.kind !== kubeadmConfigResource.kind) {
    throw new Error(`Machine ${nameOf(machine)} cannot be adopted: it has no reference to a KubeadmConfig`);
  }
  return cache.get(kubeadmConfigResource, { namespace: machine.metadata.namespace ?? "", name: ref.name });
}

function isNear(has: string | undefined, wanted: string): boolean {
  if (has === undefined) return true;
  const [a, b] = [parseVersion(has), parseVersion(wanted)];
  return a.major === b.major && Math.abs(a.minor - b.minor) <= 1;
}

/** The cluster's certificates were made for the first Machine's KubeadmConfig; they must not go with it. */
async function takeSecrets(view: ControlPlaneView, { cache, client }: ReconcileContext, config: KubeadmConfig): Promise<void> {
  const dataSecret = config.status?.dataSecretName;
  const owned = cache
    .ofCluster(secretResource, clusterKeyOf(view))
    .filter((s) => nameOf(s) !== dataSecret && s.metadata.ownerReferences?.some((o) => o.uid === config.metadata.uid));
  for (const secret of owned) {
    const others = (secret.metadata.ownerReferences ?? []).filter((o) => o.uid !== config.metadata.uid);
    const ownerReferences = [...others, controllerReferenceTo(kubeadmControlPlaneResource, view.kcp)];
    const { resourceVersion } = secret.metadata;
    await client.patch(secretResource, keyOf(secret), { type: "merge", body: { metadata: { resourceVersion, ownerReferences } } });
  }
}
