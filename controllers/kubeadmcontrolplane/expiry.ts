// When the certificates of each Machine's API server run out, noted on its KubeadmConfig. Here: the step, last of a quiet run.
// Source: spec/controllers/workload-cluster.md section 6, certificate expiry.
import { kubeadmConfigResource } from "../../api/kubeadmconfig.ts";
import { keyOf } from "../../api/meta/resource.ts";
import { machineCertificatesExpiryDateAnnotation } from "../../api/names.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import type { WorkloadCluster } from "../workload/seam.ts";
import { hasAnnotation, isTrueOn, nameOf, nodeNameOf } from "./machines.ts";
import { type ControlPlaneView, configFor, liveMachines } from "./view.ts";

const API_SERVER_PORT = 6443;

export async function noteCertificateExpiry(
  view: ControlPlaneView,
  { client }: ReconcileContext,
  workload: WorkloadCluster,
): Promise<void> {
  for (const machine of liveMachines(view)) {
    const config = configFor(view, machine);
    const nodeName = nodeNameOf(machine);
    if (!config || nodeName === undefined || hasAnnotation(config, machineCertificatesExpiryDateAnnotation)) continue;
    // One that is still starting, or down, is asked when it runs.
    if (!isTrueOn(machine, "APIServerPodHealthy")) continue;
    const { initConfiguration, joinConfiguration } = config.spec ?? {};
    const endpoint = joinConfiguration?.controlPlane?.localAPIEndpoint ?? initConfiguration?.localAPIEndpoint;
    const expiryMs = await workload.apiServerCertificateExpiryMs(nodeName, endpoint?.bindPort ?? API_SERVER_PORT);
    const body = { metadata: { annotations: { [machineCertificatesExpiryDateAnnotation]: timestamp(expiryMs) } } };
    view.configs.set(nameOf(machine), await client.patch(kubeadmConfigResource, keyOf(config), { type: "merge", body }));
  }
}
