// Certificates of a cluster: which there are, where they live on a machine, in which Secret. Here: names and paths, pure.
// Not here: looking up and making them (secrets.ts). Source: spec/controllers/kubeadmconfig.md section 6.
import type { ClusterConfiguration } from "../../api/kubeadm-cluster-configuration.ts";

/** Part of a Secret's name; in the order in which their files are written on a machine. */
export const purposes = ["ca", "etcd", "proxy", "sa", "apiserver-etcd-client"] as const;
export type Purpose = (typeof purposes)[number];

/** `ca`: a self-signed CA. `keys`: a bare signing pair. `given`: never made here, must exist. */
type Making = "ca" | "keys" | "given";

export interface Certificate {
  readonly purpose: Purpose;
  readonly making: Making;
  /** Absolute paths on a machine; no key path = the key is not written. */
  readonly certificatePath: string;
  readonly keyPath?: string;
}

const DEFAULT_CERTIFICATES_DIR = "/etc/kubernetes/pki";

export const certificateSecretName = (cluster: string, purpose: Purpose): string => `${cluster}-${purpose}`;

/** All certificates that a control plane machine gets. */
export function controlPlaneCertificates(configuration: ClusterConfiguration | undefined): readonly Certificate[] {
  const dir = configuration?.certificatesDir ?? DEFAULT_CERTIFICATES_DIR;
  const external = configuration?.etcd?.external;
  const own = (purpose: Purpose, making: Making, certificate: string, key: string): Certificate => ({
    purpose,
    making,
    certificatePath: `${dir}/${certificate}`,
    keyPath: `${dir}/${key}`,
  });
  const etcd: readonly Certificate[] = external
    ? [{ purpose: "etcd", making: "given", certificatePath: external.caFile }]
    : [own("etcd", "ca", "etcd/ca.crt", "etcd/ca.key")];
  const client: readonly Certificate[] = external
    ? [{ purpose: "apiserver-etcd-client", making: "given", certificatePath: external.certFile, keyPath: external.keyFile }]
    : [];
  return [
    own("ca", "ca", "ca.crt", "ca.key"),
    ...etcd,
    own("proxy", "ca", "front-proxy-ca.crt", "front-proxy-ca.key"),
    own("sa", "keys", "sa.pub", "sa.key"),
    ...client,
  ];
}

/** What a worker needs to know: the cluster CA, of which nothing is written. */
export const workerCertificates = (caCertPath: string | undefined): readonly Certificate[] => [
  { purpose: "ca", making: "ca", certificatePath: caCertPath ?? `${DEFAULT_CERTIFICATES_DIR}/ca.crt` },
];
