// What a user does, with real HTTPS, real kubectl and the wall clock. Here: the README's steps, restarts, wrong use.
import { createServer } from "node:net";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { end, eventually, kubectlWith, type Running, run, samples, start, untilReady, withFolder } from "./process.ts";

const LIMIT_MS = 180_000;

interface MachineLine {
  readonly name: string;
  readonly uid: string;
  readonly version: string;
  readonly upToDate: string;
  readonly available: string;
}

const COLUMNS =
  '{range .items[*]}{.metadata.name}{"\\t"}{.metadata.uid}{"\\t"}{.spec.version}{"\\t"}{.status.conditions[?(@.type=="UpToDate")].status}{"\\t"}{.status.conditions[?(@.type=="Available")].status}{"\\n"}{end}';

function machinesOf(kubectl: (...args: string[]) => string): readonly MachineLine[] {
  const lines = kubectl("get", "machines", "-o", `jsonpath=${COLUMNS}`).trim().split("\n");
  return lines
    .filter((l) => l !== "")
    .map((line) => {
      const [name = "", uid = "", version = "", upToDate = "", available = ""] = line.split("\t");
      return { name, uid, version, upToDate, available };
    });
}

const settled = (machines: readonly MachineLine[], version: string): boolean =>
  machines.length === 6 && machines.every((m) => m.upToDate === "True" && m.available === "True" && m.version === version);
const identities = (machines: readonly MachineLine[]): readonly string[] => machines.map((m) => `${m.name} ${m.uid}`).sort();

function workloadKubectl(kubectl: (...args: string[]) => string, folder: string): (...args: string[]) => string {
  const text = Buffer.from(kubectl("get", "secret", "quickstart-kubeconfig", "-o", "jsonpath={.data.value}"), "base64").toString("utf8");
  const file = path.join(folder, "workload.kubeconfig");
  writeFileSync(file, text, { mode: 0o600 });
  return kubectlWith(file);
}

const portOf = (url: string): number => Number(new URL(url).port);
const answers = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      done(true);
    });
    socket.on("error", () => done(false));
  });

describe("theseus dev with kubectl", () => {
  let dev: Running;
  let folder = "";
  let kubectl: (...args: string[]) => string = () => "";

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "theseus-e2e-"));
    dev = start(["dev", "--port=0", `--kubeconfig-out=${path.join(folder, "kubeconfig")}`]);
    await untilReady(dev);
    kubectl = kubectlWith(path.join(folder, "kubeconfig"));
  }, LIMIT_MS);
  afterAll(async () => {
    await end(dev);
    rmSync(folder, { recursive: true, force: true });
  }, LIMIT_MS);

  it("says where the kubeconfig is and what to do next", () => {
    expect(dev.out()).toContain(`export KUBECONFIG=${path.join(folder, "kubeconfig")}`);
    expect(dev.out()).toMatch(/kubectl apply -f .*manifests\/samples\/quickstart\//);
    expect(dev.out()).toContain("InPlaceUpdates=true");
    expect(statSync(path.join(folder, "kubeconfig")).mode & 0o077).toBe(0);
  });

  it(
    "brings a cluster up, which answers on a port of its own",
    async () => {
      kubectl("apply", "-f", samples("quickstart"));
      kubectl("wait", "--for=condition=Available", "--timeout=60s", "cluster/quickstart");
      await eventually("six Machines", () => settled(machinesOf(kubectl), "v1.35.0"));
      expect(kubectl("get", "machines")).toMatch(/NAME\s+CLUSTER\s+NODE NAME\s+.*READY\s+AVAILABLE\s+UP-TO-DATE\s+PHASE\s+AGE\s+VERSION/);
      const workload = workloadKubectl(kubectl, folder);
      expect(workload("get", "nodes", "--no-headers").trim().split("\n")).toHaveLength(6);
      const pods = workload("get", "pods", "-n", "kube-system", "--no-headers");
      for (const [name, count] of [
        ["etcd-", 3],
        ["kube-apiserver-", 3],
        ["kube-proxy-", 6],
        ["coredns-", 2],
      ] as const) {
        expect([name, pods.split("\n").filter((l) => l.startsWith(name)).length]).toEqual([name, count]);
      }
      expect(pods).not.toMatch(/Pending|Terminating|0\/1/);
    },
    LIMIT_MS,
  );

  it(
    "changes a file and then the version in place, and tells the story in Events",
    async () => {
      const before = identities(machinesOf(kubectl));
      kubectl("apply", "-f", samples("quickstart-file-change"));
      await eventually("the file in every KubeadmConfig", () => {
        const contents = kubectl("get", "kubeadmconfigs", "-o", 'jsonpath={range .items[*]}{.spec.files[*].path}{"\\n"}{end}')
          .trim()
          .split("\n");
        return contents.length === 6 && contents.every((c) => c !== "") && settled(machinesOf(kubectl), "v1.35.0");
      });
      expect(identities(machinesOf(kubectl))).toEqual(before);

      kubectl("apply", "-f", samples("quickstart-version"));
      await eventually("the new version", () => settled(machinesOf(kubectl), "v1.36.0"));
      expect(identities(machinesOf(kubectl))).toEqual(before);
      const versions = workloadKubectl(kubectl, folder)("get", "nodes", "-o", "jsonpath={.items[*].status.nodeInfo.kubeletVersion}");
      expect(versions.split(" ")).toEqual(Array(6).fill("v1.36.0"));
      const events = kubectl("get", "events", "-o", 'jsonpath={range .items[*]}{.involvedObject.kind} {.reason}{"\\n"}{end}');
      expect(events).toContain("Machine SuccessfulStartInPlaceUpdate");
      const marks = kubectl("get", "machines,devmachines,kubeadmconfigs", "-o", "json");
      expect(marks).not.toMatch(/update-in-progress|pending-hooks|pending-acknowledge/);
    },
    LIMIT_MS,
  );

  it(
    "replaces machines for a change that the updater does not cover, and says why",
    async () => {
      const before = machinesOf(kubectl);
      kubectl("apply", "-f", samples("quickstart-replace"));
      await eventually("three other workers", () => {
        const now = machinesOf(kubectl);
        return settled(now, "v1.36.0") && now.filter((m) => before.some((b) => b.uid === m.uid)).length === 3;
      });
      const kept = machinesOf(kubectl).filter((m) => before.some((b) => b.uid === m.uid));
      expect(kept.every((m) => m.name.includes("control-plane"))).toBe(true);
      expect(kubectl("get", "events", "-o", 'jsonpath={range .items[*]}{.message}{"\\n"}{end}')).toMatch(/backend\.inMemory/);
    },
    LIMIT_MS,
  );

  it.each<[string, string, RegExp]>([
    ["an even number of control plane machines", '{"spec":{"replicas":2}}', /spec\.replicas.*odd/],
    ["a version that is none", '{"spec":{"version":"latest"}}', /spec\.version/],
    ["two minors at once", '{"spec":{"version":"v1.38.0"}}', /spec\.version.*one minor/],
  ])("refuses %s with the field", (_, patch, wanted) => {
    expect(() => kubectl("patch", "kcp", "quickstart-control-plane", "--type=merge", "-p", patch)).toThrow(wanted);
  });
});

describe("theseus dev, ended and started again", () => {
  it(
    "leaves no process, port or temporary file after Ctrl-C",
    async () => {
      await withFolder(async (folder) => {
        const dev = start(["dev", "--port=0"], { TMPDIR: folder });
        const url = await untilReady(dev);
        expect(readdirSync(folder)).toHaveLength(1);
        const ended = await end(dev, "SIGINT");
        expect([ended.code, readdirSync(folder), await answers(portOf(url))]).toEqual([0, [], false]);
      });
    },
    LIMIT_MS,
  );

  it(
    "goes on where SIGKILL stopped it in mid-update",
    async () => {
      await withFolder(async (folder) => {
        const dataDir = path.join(folder, "data");
        const args = ["dev", "--port=0", `--data-dir=${dataDir}`];
        let dev = start(args);
        try {
          await untilReady(dev);
          const kubectl = kubectlWith(path.join(dataDir, "kubeconfig"));
          kubectl("apply", "-f", samples("quickstart"));
          await eventually("six Machines", () => settled(machinesOf(kubectl), "v1.35.0"));
          const before = identities(machinesOf(kubectl));
          const [ca, workloadCa] = ["{.clusters[0].cluster.certificate-authority-data}", "x"].map((p) =>
            p === "x"
              ? kubectl("get", "secret", "quickstart-kubeconfig", "-o", "jsonpath={.data.value}")
              : readFileSync(path.join(dataDir, "kubeconfig"), "utf8"),
          );
          kubectl("apply", "-f", samples("quickstart-file-change"));
          kubectl("apply", "-f", samples("quickstart-version"));
          await eventually("an update under way", () => kubectl("get", "machines", "-o", "json").includes("update-in-progress"));
          await end(dev, "SIGKILL");

          // Another port, the same everything else.
          dev = start(args);
          await untilReady(dev);
          const again = kubectlWith(path.join(dataDir, "kubeconfig"));
          await eventually("the update done", () => settled(machinesOf(again), "v1.36.0"), 150_000);
          expect(identities(machinesOf(again))).toEqual(before);
          expect(again("get", "secret", "quickstart-kubeconfig", "-o", "jsonpath={.data.value}")).toBe(workloadCa);
          expect(certificateAuthority(readFileSync(path.join(dataDir, "kubeconfig"), "utf8"))).toBe(certificateAuthority(ca ?? ""));
          expect(workloadKubectl(again, folder)("get", "nodes", "--no-headers").trim().split("\n")).toHaveLength(6);
        } finally {
          await end(dev, "SIGKILL");
        }
      });
    },
    2 * LIMIT_MS,
  );
});

const certificateAuthority = (kubeconfig: string): string => /certificate-authority-data: (\S+)/.exec(kubeconfig)?.[1] ?? "none";

describe("wrong use", () => {
  it.each<[string, readonly string[], number, RegExp]>([
    ["an unknown command", ["devv"], 64, /^theseus: unknown command "devv"; did you mean dev\?\n$/],
    [
      "a mistyped flag",
      ["dev", "--prot=1"],
      64,
      /^theseus: unknown flag --prot; did you mean --port\?\n$|^theseus: unknown flag --prot; .*\n$/,
    ],
    [
      "an unknown gate",
      ["dev", "--feature-gates=InPlace=true"],
      64,
      /^theseus: unknown feature gate "InPlace"; known are .*InPlaceUpdates.*\n$/,
    ],
    [
      "a gate without the one it needs",
      ["dev", "--feature-gates=RuntimeSDK=false"],
      64,
      /^theseus: feature gate InPlaceUpdates needs RuntimeSDK.*\n$/,
    ],
    ["a log format that is none", ["dev", "--log-format=xml"], 64, /^theseus: --log-format is "xml"; give one of text, json\n$/],
    ["a kubeconfig that is not there", ["manager", "--kubeconfig=/no/such/file"], 1, /^theseus: .*\/no\/such\/file.*\n$/],
    ["an updater without a certificate", ["updater"], 64, /^theseus: --cert-dir is missing; .*\n$/],
  ])(
    "%s gives one line and an exit code",
    async (_, args, code, text) => {
      const ended = await run(args);
      expect([ended.code, ended.error]).toEqual([code, expect.stringMatching(text)]);
    },
    LIMIT_MS,
  );

  it(
    "a taken port gives one line and a non-zero exit",
    async () => {
      const other = createServer();
      const port = await new Promise<number>((done) =>
        other.listen(0, "127.0.0.1", () => done((other.address() as { port: number }).port)),
      );
      const ended = await run(["dev", `--port=${port}`]);
      other.close();
      expect([ended.code === 0, ended.error]).toEqual([
        false,
        expect.stringMatching(/^theseus: port \d+ .*(taken|in use); choose another.*\n$/),
      ]);
    },
    LIMIT_MS,
  );

  it(
    "help lists each gate with its default and stage",
    async () => {
      const { code, out } = await run(["help", "dev"]);
      expect(code).toBe(0);
      expect(out).toMatch(/InPlaceUpdates=true\|false \(Alpha, default true, needs RuntimeSDK\)/);
      expect((await run(["help", "manager"])).out).toMatch(/InPlaceUpdates=true\|false \(Alpha, default false, needs RuntimeSDK\)/);
      expect(existsSync(samples("quickstart"))).toBe(true);
    },
    LIMIT_MS,
  );
});
