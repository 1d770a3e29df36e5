// clusterConfiguration of a KubeadmConfigSpec, and the argument, environment and volume lists of control plane components.
// Source: spec/api/kubeadmconfig.md sections 2 and 2.1.
import {
  boolean,
  int32,
  list,
  listMap,
  mapOf,
  must,
  object,
  oneOf,
  quantity,
  rules,
  type Shape,
  someOf,
  string,
  text,
  type TypeOf,
} from "./shape.ts";

/** @param field name of the list, for the message  @param what whose arguments */
export const args = (field: string, what: string) =>
  listMap(
    ["name", "value"],
    object(
      {
        name: must(text(1, 256, "Name of the argument, without leading dashes.")),
        value: must(text(0, 1024, "Value of the argument; may be empty.")),
      },
      "One argument.",
    ),
    { min: 1, max: 100 },
    `Arguments for ${what}.`,
    rules({ rule: "self.all(x, self.exists_one(y, x.name == y.name))", message: `each name may be in ${field} only once` }),
  );
export type Arg = TypeOf<ReturnType<typeof args>>[number];

const atomic = { "x-kubernetes-map-type": "atomic" } as const;
const optionalName = string("Name of the object.", { default: "" });
const keySelector = (what: string) =>
  object(
    { key: must(string("Key to take.")), name: optionalName, optional: boolean("Whether it may be missing.") },
    `A key of a ${what}.`,
    atomic,
  );

const environment = object(
  {
    name: must(string("Name of the variable.")),
    value: string("Value of the variable."),
    valueFrom: object(
      {
        configMapKeyRef: keySelector("ConfigMap"),
        secretKeyRef: keySelector("Secret"),
        fieldRef: object(
          { fieldPath: must(string("Path of the field.")), apiVersion: string("Version the path is written for.") },
          "A field of the Pod.",
          atomic,
        ),
        fileKeyRef: object(
          {
            volumeName: must(string("Name of the volume.")),
            path: must(string("Path in the volume.")),
            key: must(string("Key in the file.")),
            optional: boolean("Whether it may be missing.", { default: false }),
          },
          "A key of a file in a volume.",
          atomic,
        ),
        resourceFieldRef: object(
          {
            resource: must(string("Resource to take.")),
            containerName: string("Container whose resource it is."),
            divisor: quantity("Unit of the value."),
          },
          "A resource of a container.",
          atomic,
        ),
      },
      "Source of the value.",
    ),
  },
  "One environment variable.",
);
const envs = list(environment, { min: 1, max: 100 }, "Environment variables of the component.");

const volumes = list(
  object(
    {
      name: must(text(1, 512, "Name of the volume.")),
      hostPath: must(text(1, 512, "Path on the machine.")),
      mountPath: must(text(1, 512, "Path in the Pod.")),
      readOnly: boolean("Whether the Pod may only read it."),
      pathType: string("Kind of host path, such as `File` or `DirectoryOrCreate`."),
    },
    "One host path.",
  ),
  { min: 1, max: 100 },
  "Host paths to mount into the component's Pod.",
);

const component = (what: string) => ({ extraArgs: args("extraArgs", what), extraVolumes: volumes, extraEnvs: envs });
const sans = (what: string) => list(text(1, 253, "DNS name or address."), { min: 1, max: 100 }, `Further names in ${what}.`);
const file = (what: string) => must(text(1, 512, `Path of ${what}.`));
const image = {
  imageRepository: text(1, 512, "Registry to pull the image from."),
  imageTag: text(1, 256, "Tag of the image."),
};

const etcd = someOf(
  {
    local: someOf(
      {
        ...image,
        dataDir: text(1, 512, "Data directory; kubeadm's default is /var/lib/etcd."),
        extraArgs: args("extraArgs", "etcd"),
        extraEnvs: envs,
        serverCertSANs: sans("the server certificate"),
        peerCertSANs: sans("the peer certificate"),
      },
      "etcd as a static Pod on each control plane machine.",
    ),
    external: object(
      {
        endpoints: must(list(text(1, 512, "URL of an etcd member."), { min: 1, max: 50 }, "Members of etcd.")),
        caFile: file("the CA certificate of etcd"),
        certFile: file("the client certificate for etcd"),
        keyFile: file("the client key for etcd"),
      },
      "etcd run by somebody else.",
    ),
  },
  "etcd: at most one of local and external.",
);

export const clusterConfiguration = someOf(
  {
    etcd,
    controlPlaneEndpoint: text(1, 512, "Address of the control plane; filled from the Cluster, never compared."),
    apiServer: someOf({ ...component("the API server"), certSANs: sans("the serving certificate") }, "The API server."),
    controllerManager: someOf(component("the controller manager"), "The controller manager."),
    scheduler: someOf(component("the scheduler"), "The scheduler."),
    dns: someOf(image, "CoreDNS."),
    certificatesDir: text(
      1,
      512,
      "Where certificates are kept; kubeadm's default is /etc/kubernetes/pki. Cannot be changed on a control plane.",
    ),
    imageRepository: text(1, 512, "Registry of the control plane images."),
    featureGates: mapOf({ type: "boolean" } as Shape<boolean>, "Feature gates of kubeadm."),
    certificateValidityPeriodDays: int32("Validity of new certificates in days; unset means 365.", { minimum: 1, maximum: 1095 }),
    caCertificateValidityPeriodDays: int32(
      "Validity of new CA certificates in days; unset means 3650. Cannot be changed on a control plane.",
      { minimum: 1, maximum: 36500 },
    ),
    encryptionAlgorithm: oneOf(
      ["ECDSA-P256", "ECDSA-P384", "RSA-2048", "RSA-3072", "RSA-4096"],
      "Algorithm of new keys; unset means RSA-2048.",
    ),
  },
  "What kubeadm sets up for the whole cluster.",
);
export type ClusterConfiguration = TypeOf<typeof clusterConfiguration>;
