// CoreDNS follows the control plane: image and Corefile, each write safe to be the last. Here: effects in order.
// Not here: the Corefile's migration (corefile.ts). Source: spec/controllers/workload-cluster.md section 6.
import { type ConfigMap, configMapResource, type Deployment, deploymentResource } from "../../api/core/index.ts";
import { skipCoreDNSAnnotation } from "../../api/names.ts";
import type { Client } from "../../runtime/client.ts";
import type { WorkloadCluster } from "../workload/seam.ts";
import { withDns } from "./cluster-configuration.ts";
import { migrateCorefile } from "./corefile.ts";
import { dnsImage, formatImage, parseImage, plainVersion } from "./images.ts";
import { hasAnnotation } from "./machines.ts";
import type { ControlPlaneView } from "./view.ts";
import { changeClusterConfiguration, orAbsent } from "./workload-config.ts";

const KEY = { namespace: "kube-system", name: "coredns" };
const VOLUME = "config-volume";
const COREFILE = "Corefile";
const BACKUP = "Corefile-backup";

interface Present {
  readonly map: ConfigMap;
  readonly deployment: Deployment;
  readonly image: string;
}

/** Any part that is missing: somebody else cares for DNS. */
async function present(client: Client): Promise<Present | undefined> {
  const map = await orAbsent(client, configMapResource, KEY);
  const deployment = map && (await orAbsent(client, deploymentResource, KEY));
  const image = deployment?.spec?.template.spec?.containers.find((c) => c.name === "coredns")?.image;
  return map?.data?.[COREFILE] !== undefined && deployment && image ? { map, deployment, image } : undefined;
}

export async function updateCoreDns({ kcp }: ControlPlaneView, { client }: WorkloadCluster): Promise<void> {
  const configuration = kcp.spec.kubeadmConfigSpec?.clusterConfiguration;
  if (!configuration || hasAnnotation(kcp, skipCoreDNSAnnotation)) return;
  const { dns, imageRepository } = configuration;
  // Nothing is asked for: what is there stays.
  if (!dns?.imageRepository && !dns?.imageTag && !imageRepository) return;
  const found = await present(client);
  if (!found) return;
  const image = dnsImage(found.image, { dnsRepository: dns?.imageRepository, dnsTag: dns?.imageTag, imageRepository });
  if (image === found.image) return;

  const [from, to] = [parseImage(found.image), parseImage(image)];
  const old = found.map.data?.[COREFILE] ?? "";
  const corefile = migrateCorefile(old, plainVersion(from.tag), plainVersion(to.tag));
  await changeClusterConfiguration(client, (text) => withDns(text, { imageRepository: to.repository, imageTag: to.tag }));
  await changeCorefile(client, found, old, corefile);
  await patchDeployment(client, found.deployment, formatImage(to), COREFILE);
}

/** Running Pods read the backup while the Corefile changes under its own key. */
async function changeCorefile(client: Client, { map, deployment, image }: Present, old: string, corefile: string): Promise<void> {
  if (corefile === old) return;
  const backedUp = await client.update(configMapResource, { ...map, data: { ...map.data, [COREFILE]: old, [BACKUP]: old } });
  await patchDeployment(client, deployment, image, BACKUP);
  await client.update(configMapResource, { ...backedUp, data: { ...backedUp.data, [COREFILE]: corefile, [BACKUP]: old } });
}

async function patchDeployment(client: Client, deployment: Deployment, image: string, key: string): Promise<void> {
  const spec = deployment.spec?.template.spec;
  const containers = spec?.containers.map((c) => (c.name === "coredns" ? { ...c, image } : c));
  const volumes = spec?.volumes?.map((v) =>
    v.name === VOLUME && v.configMap ? { ...v, configMap: { ...v.configMap, items: [{ key, path: COREFILE }] } } : v,
  );
  await client.patch(deploymentResource, KEY, {
    type: "merge",
    body: { spec: { template: { spec: { containers, ...(volumes ? { volumes } : {}) } } } },
  });
}
