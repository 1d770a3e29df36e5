// manifests/ applied for real to the embedded server with RBAC on, and `theseus manager` with just the rights they give.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { parseAllDocuments } from "yaml";
import { createNodePki } from "../../runtime/base/real/node-pki.ts";
import { systemClock } from "../../runtime/base/real/system-clock.ts";
import { end, eventually, kubectlWith, type Running, run, samples, start, untilReady } from "../e2e/process.ts";

const MANIFESTS = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../manifests");
const NAMESPACE = "theseus-system";
const LIMIT_MS = 240_000;
const DAY_MS = 24 * 3_600_000;

interface Deployment {
  readonly kind: string;
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] } } };
}

/** Arguments of the container, as the Deployment has them. */
function argumentsIn(file: string): readonly string[] {
  const documents = parseAllDocuments(readFileSync(path.join(MANIFESTS, file), "utf8")).map((d) => d.toJS() as Deployment);
  return documents.find((d) => d.kind === "Deployment")?.spec.template.spec.containers[0]?.args ?? [];
}

const withFlags = (args: readonly string[], flags: Readonly<Record<string, string>>): readonly string[] => [
  ...args.filter((arg) => !Object.keys(flags).some((name) => arg.startsWith(`--${name}=`))),
  ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
];

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => done(typeof address === "object" && address ? address.port : 0));
    });
  });

describe("manifests in a cluster with RBAC", () => {
  let folder = "";
  let server: Running;
  let manager: Running | undefined;
  let admin: (...args: string[]) => string = () => "";
  const at = (name: string): string => path.join(folder, name);

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "theseus-manifests-"));
    server = start(["apiserver", "--secure-port=0", "--authorization-mode=RBAC", `--kubeconfig-out=${at("admin.kubeconfig")}`]);
    await untilReady(server);
    admin = kubectlWith(at("admin.kubeconfig"));
  }, LIMIT_MS);

  afterAll(async () => {
    if (manager) await end(manager);
    await end(server);
    rmSync(folder, { recursive: true, force: true });
  }, LIMIT_MS);

  /** A kubeconfig as a Pod of that service account would have it. */
  function kubeconfigOf(serviceAccount: string): string {
    const cluster = JSON.parse(admin("config", "view", "--raw", "-o", "json")) as { clusters: { cluster: Record<string, string> }[] };
    const file = at(`${serviceAccount}.kubeconfig`);
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "here", cluster: cluster.clusters[0]?.cluster }],
      users: [{ name: "account", user: { token: admin("-n", NAMESPACE, "create", "token", serviceAccount, "--duration=1h").trim() } }],
      contexts: [{ name: "here", context: { cluster: "here", user: "account" } }],
      "current-context": "here",
    };
    writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
    return file;
  }

  const may = (account: string, verb: string, resource: string): boolean => {
    try {
      return admin("auth", "can-i", verb, resource, `--as=system:serviceaccount:${NAMESPACE}:${account}`).trim() === "yes";
    } catch {
      return false; // `no` comes with exit code 1
    }
  };

  it("are taken: the namespace, all in a dry run, all for good, and once more without a change", () => {
    expect(admin("apply", "-f", path.join(MANIFESTS, "manager/namespace.yaml"))).toContain("created");
    const dry = admin("apply", "--dry-run=server", "-k", MANIFESTS);
    expect(dry.split("\n").filter((l) => l !== "" && !/\((server dry run|dry run)\)/.test(l))).toEqual([]);
    expect(admin("get", "crd", "-o", "name")).toBe("");
    const names = admin("apply", "-k", MANIFESTS);
    expect(names.split("\n").filter((l) => l.endsWith(" created")).length).toBeGreaterThan(20);
    admin("wait", "--for=condition=Established", "--timeout=30s", "crd", "--all");
    expect(
      admin("apply", "-k", MANIFESTS)
        .trim()
        .split("\n")
        .filter((l) => !l.endsWith(" unchanged")),
    ).toEqual([]);
  });

  it(
    "let theseus install name the CA of the webhooks, and the manager make a cluster with the rights they give",
    async () => {
      const port = await freePort();
      serveWebhooksAt(port);
      const installed = await run(["install", "--apply", `--kubeconfig=${at("admin.kubeconfig")}`, `--webhook-ca-file=${at("ca.crt")}`]);
      expect([installed.code, installed.error]).toEqual([0, ""]);

      const flags = {
        "webhook-port": String(port),
        "webhook-cert-dir": folder,
        "health-addr": "127.0.0.1:0",
        "diagnostics-address": "127.0.0.1:0",
        "leader-election-namespace": NAMESPACE,
        kubeconfig: kubeconfigOf("theseus-manager"),
        controllers: "*,devcluster,devmachine",
      };
      manager = start(withFlags(argumentsIn("manager/deployment.yaml"), flags));
      await eventually("webhooks answer", () => admin("apply", "--dry-run=server", "-f", samples("quickstart")) !== "");
      expect([may("theseus-manager", "get", "crd"), may("theseus-manager", "patch", "crd")]).toEqual([true, false]);

      admin("apply", "-f", samples("quickstart"));
      admin("wait", "--for=condition=Available", "--timeout=120s", "cluster/quickstart");
      expect(JSON.parse(admin("get", "leases", "-n", NAMESPACE, "-o", "json")).items).toHaveLength(1);
      expect(manager.process.exitCode).toBeNull();
      expect(`${manager.out()}${manager.error()}`).not.toMatch(/forbidden/i);
    },
    LIMIT_MS,
  );

  it("refuse through the Service's webhooks what the rules forbid", () => {
    const bad = JSON.stringify({ spec: { replicas: -1 } });
    expect(() => admin("patch", "machinedeployment", "quickstart-workers", "--type=merge", "-p", bad)).toThrow(/Invalid|invalid|denied/);
  });

  it(
    "hold the updater, whose rights are to read machines and kubeconfigs",
    async () => {
      const secret = ["-n", NAMESPACE, "create", "secret", "generic", "kubeadm-updater-tls"];
      admin(...secret, ...["tls.crt", "tls.key", "ca.crt"].map((name) => `--from-file=${name}=${at(name)}`));
      const dry = admin("apply", "--dry-run=server", "-k", path.join(MANIFESTS, "updater"));
      expect(dry).toContain("extensionconfig.runtime.cluster.x-k8s.io/kubeadm-updater created (server dry run)");
      admin("apply", "-k", path.join(MANIFESTS, "updater"));
      await eventually("the CA of the Secret is in the ExtensionConfig", () =>
        admin("get", "extensionconfig", "kubeadm-updater", "-o", "jsonpath={.spec.clientConfig.caBundle}").startsWith("LS0t"),
      );
      const updaterMay = (verb: string, resource: string): boolean => may("kubeadm-updater", verb, resource);
      expect([updaterMay("get", "machines.cluster.x-k8s.io"), updaterMay("get", "secrets")]).toEqual([true, true]);
      expect([updaterMay("delete", "machines.cluster.x-k8s.io"), updaterMay("list", "secrets")]).toEqual([false, false]);

      const updater = start(
        withFlags(argumentsIn("updater/deployment.yaml"), {
          port: "0",
          "bind-address": "127.0.0.1",
          "cert-dir": folder,
          kubeconfig: kubeconfigOf("kubeadm-updater"),
        }),
      );
      try {
        expect(await untilReady(updater)).toMatch(/^https:/);
      } finally {
        await end(updater);
      }
    },
    LIMIT_MS,
  );

  /** What the endpoints controller and an issuer of certificates do in a cluster. */
  function serveWebhooksAt(port: number): void {
    const pki = createNodePki({ clock: systemClock });
    const ca = pki.createCa("theseus-webhook", DAY_MS, "ECDSA-P256");
    const { certificate, key } = pki.issue(ca, {
      commonName: "theseus-webhook",
      names: [`theseus-webhook.${NAMESPACE}.svc`, `kubeadm-updater.${NAMESPACE}.svc`, "127.0.0.1"],
      usages: ["server"],
      validForMs: DAY_MS,
      algorithm: "ECDSA-P256",
    });
    for (const [name, text] of Object.entries({ "ca.crt": ca.certificate, "tls.crt": certificate, "tls.key": key }))
      writeFileSync(at(name), text, { mode: 0o600 });
    const endpoints = {
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: { name: "theseus-webhook", namespace: NAMESPACE },
      subsets: [{ addresses: [{ ip: "127.0.0.1" }], ports: [{ name: "webhook", port }] }],
    };
    writeFileSync(at("endpoints.json"), JSON.stringify(endpoints));
    admin("apply", "-f", at("endpoints.json"));
  }
});
