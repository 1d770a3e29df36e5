import { describe, expect, it } from "@jest/globals";
import { parse, parseAllDocuments } from "yaml";
import type { Cluster } from "../../api/cluster.ts";
import type { KubeadmConfig } from "../../api/kubeadmconfig.ts";
import type { Machine } from "../../api/machine.ts";
import { VirtualClock } from "../../runtime/base/virtual-clock.ts";
import { createNodePki } from "../../runtime/base/real/node-pki.ts";
import { cloudConfig, kubeadmCommand } from "./cloud-config.ts";
import { configStatus } from "./controller.ts";
import { certificateFiles, discoveryKubeconfig } from "./files.ts";
import { ignitionConfig } from "./ignition.ts";
import { initDocument } from "./init.ts";
import { completeDiscovery, joinDocument } from "./join.ts";
import { holderOf } from "./lock.ts";
import { renderTemplate } from "./template.ts";
import { isRenewalDue } from "./tokens.ts";
import { caseOf, type ConfigView } from "./view.ts";

const nowMs = Date.parse("2026-06-01T12:00:00Z");
const ca = createNodePki({ clock: new VirtualClock(nowMs) }).createCa("kubernetes", 3_600_000, "ECDSA-P256").certificate;

const initialized = {
  type: "ControlPlaneInitialized",
  status: "True",
  reason: "Initialized",
  message: "",
  lastTransitionTime: "2026-06-01T11:00:00Z",
} as const;
const cluster = (change: object = {}): Cluster => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { name: "demo", namespace: "ns" },
  spec: {
    controlPlaneEndpoint: { host: "h", port: 6443 },
    clusterNetwork: {
      pods: { cidrBlocks: ["10.0.0.0/16", "fd00::/64"] },
      services: { cidrBlocks: ["10.1.0.0/16"] },
      serviceDomain: "cluster.local",
    },
  },
  status: { initialization: { infrastructureProvisioned: true }, conditions: [initialized] },
  ...change,
});
const machine = (change: { labels?: object; spec?: object; status?: object } = {}): Machine =>
  ({
    apiVersion: "v1",
    kind: "Machine",
    metadata: { name: "m1", namespace: "ns", labels: change.labels ?? {} },
    spec: { clusterName: "demo", version: "v1.35.0", bootstrap: {}, ...change.spec },
    status: change.status,
  }) as unknown as Machine;
const config = (spec: KubeadmConfig["spec"] = {}, status?: KubeadmConfig["status"]): KubeadmConfig => ({
  apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
  kind: "KubeadmConfig",
  metadata: { name: "m1", namespace: "ns", generation: 2 },
  spec,
  status,
});
const controlPlane = { "cluster.x-k8s.io/control-plane": "" };
const view = (change: Partial<ConfigView> = {}): ConfigView => ({
  config: config(),
  machine: machine(),
  cluster: cluster(),
  nowMs,
  status: {},
  findings: [],
  failed: false,
  ...change,
});

describe("caseOf", () => {
  const created = { initialization: { dataSecretCreated: true }, dataSecretName: "m1" };
  const named = machine({ spec: { bootstrap: { dataSecretName: "m1" } } });
  const rows: [string, Partial<ConfigView>, string][] = [
    ["infrastructure first", { cluster: cluster({ status: {} }), config: config({}, created) }, "waitForInfrastructure"],
    ["after a move between clusters", { machine: named }, "restore"],
    ["half of the status was lost", { machine: named, config: config({}, { initialization: { dataSecretCreated: true } }) }, "restore"],
    ["made once", { machine: named, config: config({ files: [] }, created) }, "done"],
    [
      "before the control plane",
      { cluster: cluster({ status: { initialization: { infrastructureProvisioned: true } } }) },
      "beforeControlPlane",
    ],
    ["a worker joins", {}, "joinWorker"],
    ["a control plane joins", { machine: machine({ labels: controlPlane }) }, "joinControlPlane"],
  ];
  it.each(rows)("%s", (_what, change, expected) => expect(caseOf(view(change))).toBe(expected));
});

describe("cloudConfig", () => {
  const base = { mode: "join", files: [], kubeadmDocument: "kind: JoinConfiguration\n", users: [], spec: {} } as const;
  const parsed = (parts: Partial<Parameters<typeof cloudConfig>[0]>) => parse(cloudConfig({ ...base, ...parts }));

  it("begins with its two markers, and holds little by default", () => {
    const text = cloudConfig(base);
    expect(text.split("\n").slice(0, 2)).toEqual(["## template: jinja", "#cloud-config"]);
    expect(Object.keys(parse(text))).toEqual(["write_files", "runcmd"]);
    expect(parse(text).runcmd).toEqual([
      "kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml && echo success > /run/cluster-api/bootstrap-success.complete",
    ]);
  });

  it("writes files in order, then kubeadm's, then the folder", () => {
    const files = [
      { path: "/a", content: "line one\n  two: {{ ds.meta_data.x }}\n", permissions: "0600" },
      { path: "/b", content: "", encoding: "base64", append: true },
    ];
    const written = parsed({ mode: "init", files, kubeadmDocument: "doc" }).write_files;
    expect(written.map((f: { path: string }) => f.path)).toEqual(["/a", "/b", "/run/kubeadm/kubeadm.yaml", "/run/cluster-api/placeholder"]);
    expect(written[0]).toEqual({ path: "/a", permissions: "0600", content: "line one\n  two: {{ ds.meta_data.x }}\n" });
    expect(written[1]).toEqual({ path: "/b", encoding: "base64", append: true, content: "" });
    expect(written[2]).toEqual({ path: "/run/kubeadm/kubeadm.yaml", owner: "root:root", permissions: "0640", content: "doc" });
  });

  it("says everything a spec can say", () => {
    const got = parsed({
      users: [{ name: "u", homeDir: "/h", lockPassword: false, sshAuthorizedKeys: ["k"], passwd: "hash" }],
      spec: {
        bootCommands: ["boot"],
        preKubeadmCommands: ["pre"],
        postKubeadmCommands: ["post"],
        verbosity: 5,
        ntp: { enabled: true, servers: ["t"] },
        mounts: [["/dev/x", "/x"]],
        diskSetup: {
          partitions: [
            { device: "/dev/a", layout: true, tableType: "gpt", overwrite: false },
            { device: "/dev/b", diskLayout: [{ percentage: 40, partitionType: "LVM" }, { percentage: 60 }] },
          ],
          filesystems: [{ device: "/dev/a", filesystem: "ext4", label: "l", replaceFS: "ntfs", extraOpts: ["-E"] }],
        },
      },
    });
    expect(got).toMatchObject({
      bootcmd: ["boot"],
      runcmd: ["pre", kubeadmCommand("join", 5), "post"],
      ntp: { enabled: true, servers: ["t"] },
      users: [{ name: "u", passwd: "hash", homedir: "/h", lock_passwd: false, ssh_authorized_keys: ["k"] }],
      disk_setup: { "/dev/a": { table_type: "gpt", layout: true, overwrite: false }, "/dev/b": { layout: [[40, "8e"], 60] } },
      fs_setup: [{ label: "l", filesystem: "ext4", device: "/dev/a", replace_fs: "ntfs", extra_opts: ["-E"] }],
      mounts: [["/dev/x", "/x"]],
    });
    expect(kubeadmCommand("join", 5)).toContain(" --v 5 &&");
  });
});

describe("ignitionConfig", () => {
  const base = { mode: "join", files: [], kubeadmDocument: "kind: JoinConfiguration\n", users: [], spec: {} } as const;
  const parsed = (parts: Partial<Parameters<typeof ignitionConfig>[0]>) => JSON.parse(ignitionConfig({ ...base, ...parts }));
  const contentOf = (file: { contents: { source: string } }) => atob(file.contents.source.replace("data:;base64,", ""));

  it("runs kubeadm once, by a unit", () => {
    const { ignition, storage, systemd } = parsed({ spec: { preKubeadmCommands: ["pre"], postKubeadmCommands: ["post"], verbosity: 3 } });
    expect(ignition).toEqual({ version: "2.3.0" });
    expect(systemd.units.map((u: { name: string }) => u.name)).toEqual(["kubeadm.service"]);
    expect(storage.files.map((f: { path: string; mode: number }) => `${f.path} ${f.mode.toString(8)}`)).toEqual([
      "/etc/kubeadm.yml 600",
      "/etc/kubeadm.sh 700",
    ]);
    expect(contentOf(storage.files[1]).split("\n")).toEqual([
      "#!/bin/bash",
      "set -e",
      "pre",
      "",
      "kubeadm join --config /etc/kubeadm.yml --v 3",
      "mkdir -p /run/cluster-api && echo success > /run/cluster-api/bootstrap-success.complete",
      "mv /etc/kubeadm.yml /tmp/",
      "post",
      "",
    ]);
  });

  it("says files, users, mounts, disks and time servers", () => {
    const got = parsed({
      files: [{ path: "/a", content: "x", owner: "root:adm", permissions: "0640", append: true }],
      users: [{ name: "u", groups: "a, b", passwd: "hash", homeDir: "/h" }],
      spec: {
        mounts: [["etcd", "/var/lib/etcd-data"]],
        ntp: { enabled: true, servers: ["t1", "t2"] },
        diskSetup: {
          partitions: [{ device: "/dev/a", layout: true, overwrite: true }],
          filesystems: [{ device: "/dev/a1", filesystem: "ext4", label: "etcd" }],
        },
      },
    });
    expect(got.storage.files[0]).toMatchObject({ path: "/a", mode: 0o640, append: true, user: { name: "root" }, group: { name: "adm" } });
    expect(got.passwd.users).toEqual([{ name: "u", groups: ["a", "b"], homeDir: "/h", passwordHash: "hash" }]);
    expect(got.storage.disks).toEqual([{ device: "/dev/a", wipeTable: true, partitions: [{}] }]);
    expect(got.storage.filesystems[0].mount).toEqual({ device: "/dev/a1", format: "ext4", label: "etcd" });
    expect(contentOf(got.storage.files.at(-1))).toBe("[Time]\nNTP=t1 t2\n");
    expect(got.systemd.units.map((u: { name: string }) => u.name)).toEqual([
      "kubeadm.service",
      "systemd-timesyncd.service",
      "var-lib-etcd\\x2ddata.mount",
    ]);
  });

  it("takes units, files and users of an additional config, and refuses the rest", () => {
    const additional = (additionalConfig: string) => parsed({ spec: { ignition: { containerLinuxConfig: { additionalConfig } } } });
    const got = additional(
      "systemd:\n  units:\n  - name: x.service\nstorage:\n  files:\n  - path: /opt/x\n    contents:\n      inline: hello\n",
    );
    expect(got.systemd.units.at(-1)).toEqual({ name: "x.service" });
    expect(contentOf(got.storage.files.at(-1))).toBe("hello");
    expect(() => additional("networkd:\n  units: []\n")).toThrow("uses networkd.units");
  });
  it("refuses compressed files", () => {
    expect(() => parsed({ files: [{ path: "/a", content: "x", encoding: "gzip" }] })).toThrow("only base64 is possible");
  });
});

describe("renderTemplate", () => {
  const data = { "controlPlane.version": "v1.35.0" };
  const rows: [string, string][] = [
    ["plain", "plain"],
    ["image:{{ .controlPlane.version }}!", "image:v1.35.0!"],
    ["a {{- .controlPlane.version -}} b", "av1.35.0b"],
    ["a{{/* why */}}b", "ab"],
  ];
  it.each(rows)("%s", (template, expected) => expect(renderTemplate(template, data)).toBe(expected));
  it.each([
    ["{{ .controlplane.version }}", "has no value; known are .controlPlane.version"],
    ["{{ if .x }}y{{ end }}", "is not understood"],
  ])("refuses %s", (template, message) => expect(() => renderTemplate(template, data)).toThrow(message));
  it("refuses what is too large", () => expect(() => renderTemplate("x".repeat(1_048_577), {})).toThrow("larger than"));
});

describe("init", () => {
  it("writes two documents, filled from Cluster and Machine", () => {
    const v = view({
      machine: machine({ labels: controlPlane }),
      config: config({
        clusterConfiguration: { apiServer: { certSANs: ["x"] } },
        initConfiguration: { nodeRegistration: { name: "{{ ds.meta_data.local_hostname }}" } },
      }),
    });
    const [first, second] = parseAllDocuments(initDocument(v)).map((d) => d.toJS());
    expect(first).toEqual({
      apiVersion: "kubeadm.k8s.io/v1beta4",
      kind: "ClusterConfiguration",
      apiServer: { certSANs: ["x"] },
      clusterName: "demo",
      controlPlaneEndpoint: "h:6443",
      kubernetesVersion: "v1.35.0",
      networking: { dnsDomain: "cluster.local", podSubnet: "10.0.0.0/16,fd00::/64", serviceSubnet: "10.1.0.0/16" },
    });
    expect(second).toEqual({
      apiVersion: "kubeadm.k8s.io/v1beta4",
      kind: "InitConfiguration",
      nodeRegistration: { name: "{{ ds.meta_data.local_hostname }}" },
    });
  });
  it("needs a version", () =>
    expect(() => initDocument(view({ machine: machine({ spec: { version: undefined } }) }))).toThrow("no Kubernetes version"));
});

describe("join", () => {
  const makeToken = async () => "abcdef.0123456789abcdef";
  it("fills what discovery lacks", async () => {
    expect(await completeDiscovery(undefined, "h:6443", ca, makeToken)).toEqual({
      bootstrapToken: {
        caCertHashes: [expect.stringMatching(/^sha256:[0-9a-f]{64}$/)],
        apiServerEndpoint: "h:6443",
        token: "abcdef.0123456789abcdef",
      },
    });
  });
  it("keeps what the user gave, and asks for no token then", async () => {
    const given = { bootstrapToken: { token: "t", apiServerEndpoint: "e", caCertHashes: ["sha256:x"] } };
    const never = () => Promise.reject(new Error("asked"));
    expect(await completeDiscovery(given, "h:6443", ca, never)).toBeUndefined();
  });
  it("trusts any CA only when there is none to know", async () => {
    expect(await completeDiscovery({}, "h:6443", "", makeToken)).toMatchObject({ bootstrapToken: { unsafeSkipCAVerification: true } });
  });
  it("completes the kubeconfig of discovery by file", async () => {
    const file = { kubeConfigPath: "/k", kubeConfig: { user: { exec: { command: "get-token" } } } };
    const patch = await completeDiscovery({ file }, "h:6443", ca, makeToken);
    expect(patch).toEqual({ file: { kubeConfig: { cluster: { server: "https://h:6443", certificateAuthorityData: btoa(ca) } } } });
    const complete = discoveryKubeconfig({ ...file, kubeConfig: { ...file.kubeConfig, cluster: { server: "https://h:6443" } } });
    expect(complete).toMatchObject({ path: "/k", permissions: "0640" });
    expect(parse(complete?.content ?? "")).toMatchObject({
      "current-context": "default",
      clusters: [{ name: "default", cluster: { server: "https://h:6443" } }],
      users: [
        {
          name: "default",
          user: { exec: { command: "get-token", apiVersion: "client.authentication.k8s.io/v1", interactiveMode: "Never" } },
        },
      ],
    });
  });

  const taintsOf = (v: ConfigView) => parse(joinDocument(v)).nodeRegistration?.taints;
  const start = { key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule" };
  it("gives a worker the taint that says it is not initialized, once", () => {
    expect(taintsOf(view())).toEqual([start]);
    const own = { key: "a", effect: "NoSchedule" };
    expect(taintsOf(view({ config: config({ joinConfiguration: { nodeRegistration: { taints: [own, start] } } }) }))).toEqual([own, start]);
    expect(taintsOf(view({ machine: machine({ labels: controlPlane }) }))).toBeUndefined();
  });
  it("writes for the version of the Machine, whatever the control plane runs", () => {
    expect(parse(joinDocument(view({ machine: machine({ spec: { version: "v1.30.0" } }) }))).apiVersion).toBe("kubeadm.k8s.io/v1beta3");
  });
});

describe("tokens", () => {
  const ttlMs = 15 * 60_000;
  const rows: [string, string, boolean][] = [
    ["fresh", "2026-06-01T12:15:00Z", false],
    ["a sixth of its life is over", "2026-06-01T12:12:30Z", true],
    ["expired", "2026-06-01T11:00:00Z", true],
    ["never set", "", true],
  ];
  it.each(rows)("%s", (_what, expiration, due) => expect(isRenewalDue(expiration, nowMs, ttlMs)).toBe(due));
  it("refuses a time that is none", () => expect(() => isRenewalDue("soon", nowMs, ttlMs)).toThrow("must be a time"));
});

it("reads who holds the lock", () => {
  const lock = (text: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: {}, data: { "lock-information": text } });
  expect([holderOf(lock('{"machineName":"m1"}')), holderOf(lock("broken")), holderOf(lock("{}"))]).toEqual(["m1", "", ""]);
});

it("writes certificates before keys, keys for root only", () => {
  const pair = { certificate: "C", key: "K" };
  const files = certificateFiles(
    [
      { purpose: "ca", making: "ca", certificatePath: "/ca.crt", keyPath: "/ca.key" },
      { purpose: "etcd", making: "given", certificatePath: "/e/ca" },
    ],
    new Map([
      ["ca", pair],
      ["etcd", pair],
    ]),
  );
  expect(files.map((f) => `${f.path} ${f.permissions} ${f.content}`)).toEqual(["/ca.crt 0640 C", "/ca.key 0600 K", "/e/ca 0640 C"]);
});

it("Ready sums up, and says why not", () => {
  const waiting = view({ findings: [{ type: "DataSecretAvailable", status: "False", reason: "NotAvailable", message: "waiting" }] });
  const ready = configStatus(waiting, waiting.config).conditions?.find((c) => c.type === "Ready");
  expect(ready).toMatchObject({ status: "False", reason: "NotReady", message: "* DataSecretAvailable: waiting" });
  expect(configStatus({ ...waiting, failed: true }, waiting.config).observedGeneration).toBeUndefined();
});
