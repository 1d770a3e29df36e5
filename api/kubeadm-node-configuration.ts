// initConfiguration and joinConfiguration of a KubeadmConfigSpec. Source: spec/api/kubeadmconfig.md sections 2 and 2.2.
import { args } from "./kubeadm-cluster-configuration.ts";
import {
  boolean,
  bytes,
  dateTime,
  int32,
  list,
  must,
  object,
  oneOf,
  plainList,
  someOf,
  string,
  stringMap,
  text,
  type TypeOf,
} from "./shape.ts";

const taint = object(
  {
    key: must(string("Taint key.")),
    value: string("Taint value."),
    effect: must(string("NoSchedule, PreferNoSchedule or NoExecute.")),
    timeAdded: dateTime("When it was added."),
  },
  "A taint.",
);

export const nodeRegistration = someOf(
  {
    name: text(1, 253, "Name of the Node; may hold variables of cloud-init."),
    criSocket: text(1, 512, "Socket of the container runtime."),
    taints: plainList(taint, { min: 0, max: 100 }, "Taints the Node starts with. Absent: kubeadm's own. Empty list: none."),
    kubeletExtraArgs: args("kubeletExtraArgs", "the kubelet"),
    ignorePreflightErrors: list(text(1, 512, "Name of a check."), { min: 1, max: 50 }, "Checks whose failure is only a warning."),
    imagePullPolicy: oneOf(["Always", "IfNotPresent", "Never"], "When kubeadm pulls images; unset means IfNotPresent."),
    imagePullSerial: boolean("Pull one image after the other; unset means yes."),
  },
  "How the Node registers.",
);
export type NodeRegistration = TypeOf<typeof nodeRegistration>;

const limit = (what: string, seconds: number) => int32(`Limit for ${what}, in seconds; kubeadm's default is ${seconds}.`, { minimum: 0 });
const timeouts = someOf(
  {
    controlPlaneComponentHealthCheckSeconds: limit("a control plane component to become healthy", 240),
    kubeletHealthCheckSeconds: limit("the kubelet to become healthy", 240),
    kubernetesAPICallSeconds: limit("a call of the API server", 60),
    etcdAPICallSeconds: limit("a call of etcd", 120),
    tlsBootstrapSeconds: limit("the TLS bootstrap of the kubelet", 300),
    discoverySeconds: limit("discovery", 300),
  },
  "Time limits of kubeadm.",
);

const localAPIEndpoint = someOf(
  {
    advertiseAddress: text(1, 39, "Address the API server of this machine tells others."),
    bindPort: int32("Port of the API server; unset means 6443.", { minimum: 1 }),
  },
  "The API server on this machine.",
);
const patches = someOf({ directory: text(1, 512, "Directory with patch files on the machine.") }, "Patches for the static Pods.");
const skipPhases = list(text(1, 256, "Name of a phase."), { min: 1, max: 50 }, "Phases of kubeadm to leave out.");
const names = (what: string) => list(text(1, 256, what), { min: 1, max: 100 }, `${what} More than one is possible.`);

const bootstrapToken = object(
  {
    token: must(text(1, 23, "The token, as `id.secret`.")),
    description: text(1, 512, "What it is for."),
    ttlSeconds: int32("How long it is valid, in seconds.", { minimum: 0 }),
    expires: dateTime("Until when it is valid."),
    usages: names("What the token may be used for."),
    groups: names("Group its user belongs to."),
  },
  "One bootstrap token.",
);

export const initConfiguration = someOf(
  {
    bootstrapTokens: list(bootstrapToken, { min: 1, max: 100 }, "Bootstrap tokens to create."),
    nodeRegistration,
    localAPIEndpoint,
    skipPhases,
    patches,
    timeouts,
  },
  "Settings of `kubeadm init`.",
);
export type InitConfiguration = TypeOf<typeof initConfiguration>;

const exec = object(
  {
    command: must(text(1, 1024, "Command to run.")),
    args: list(text(1, 512, "Argument."), { min: 1, max: 100 }, "Arguments of the command."),
    env: list(
      object({ name: must(text(1, 512, "Name.")), value: must(text(1, 512, "Value.")) }, "One environment variable."),
      { min: 1, max: 100 },
      "Environment of the command.",
    ),
    apiVersion: text(1, 512, "Version of the answer; unset means client.authentication.k8s.io/v1."),
    provideClusterInfo: boolean("Whether the command is told about the cluster."),
  },
  "A command that gives credentials.",
);

const fileDiscovery = object(
  {
    kubeConfigPath: must(text(1, 512, "Path or URL of a kubeconfig with the cluster's address and CA.")),
    kubeConfig: object(
      {
        cluster: someOf(
          {
            server: text(1, 512, "URL of the API server; unset: from the Cluster."),
            tlsServerName: text(1, 512, "Name to expect in the server's certificate."),
            insecureSkipTLSVerify: boolean("Do not check the server's certificate."),
            certificateAuthorityData: bytes("CA certificates in PEM; unset: from the Cluster.", { minLength: 1, maxLength: 51200 }),
            proxyURL: text(1, 512, "Proxy to use."),
          },
          "The API server.",
        ),
        user: must(
          someOf(
            {
              authProvider: object(
                { name: must(text(1, 256, "Name of the provider.")), config: stringMap("Settings of the provider.") },
                "An authentication provider.",
              ),
              exec,
            },
            "Credentials: at most one of exec and authProvider.",
          ),
        ),
      },
      "Content of the kubeconfig, written to kubeConfigPath.",
    ),
  },
  "Discovery through a kubeconfig.",
);

export const joinConfiguration = someOf(
  {
    nodeRegistration,
    caCertPath: text(1, 512, "Path of the CA certificate; unset means /etc/kubernetes/pki/ca.crt."),
    discovery: someOf(
      {
        bootstrapToken: someOf(
          {
            token: text(1, 512, "The token."),
            apiServerEndpoint: text(1, 512, "Address of the API server."),
            caCertHashes: list(text(1, 512, "Hash of a CA public key."), { min: 1, max: 100 }, "Hashes of accepted CA keys."),
            unsafeSkipCAVerification: boolean("Accept any CA."),
          },
          "Discovery with a bootstrap token; filled by the controller when nothing is set.",
        ),
        file: fileDiscovery,
        tlsBootstrapToken: text(1, 512, "Token for the TLS bootstrap."),
      },
      "How a joining machine finds and trusts the cluster.",
    ),
    controlPlane: object({ localAPIEndpoint }, "When present, even empty, the machine joins as a control plane."),
    skipPhases,
    patches,
    timeouts,
  },
  "Settings of `kubeadm join`.",
);
export type JoinConfiguration = TypeOf<typeof joinConfiguration>;
