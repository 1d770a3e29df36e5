// The kinds as kubectl shows them: upstream's columns, our descriptions, scale, short names, categories.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "@jest/globals";
import { stringify } from "yaml";
import { allKinds } from "../../api/index.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { kubectlWith, withFolder } from "../e2e/process.ts";
import { samples } from "./in-process.ts";
import { withDev } from "./servers.ts";

const LIMIT_MS = 300_000;

/** Headers by kind, as the pages in spec/api have them; `+` = in wide output only. */
const COLUMNS: Readonly<Record<string, string>> = {
  clusters:
    "ClusterClass, Available, CP Desired, +CP Current, +CP Ready, CP Available, CP Up-to-date, W Desired, +W Current, +W Ready, W Available, W Up-to-date, +Paused, Phase, Age, Version",
  clusterclasses: "+Paused, Variables Ready, Age",
  machinedeployments: "Cluster, Available, Desired, Current, Ready, Available, Up-to-date, +Paused, Phase, Age, Version",
  machinesets: "Cluster, Desired, Current, Ready, Available, Up-to-date, +Paused, Age, Version",
  machines:
    "Cluster, Node Name, +Provider ID, Failure domain, Ready, Available, Up-to-date, +Internal-IP, +External-IP, +OS-Image, +Paused, Phase, Age, Version",
  machinehealthchecks: "Cluster, Replicas, Healthy, +Paused, Age",
  kubeadmconfigs: "Cluster, +Paused, Data secret created, Age",
  kubeadmconfigtemplates: "ClusterClass, Cluster, Age",
  kubeadmcontrolplanes: "Cluster, Available, Desired, Current, Ready, Available, Up-to-date, +Paused, Initialized, Age, Version",
  kubeadmcontrolplanetemplates: "ClusterClass, Age",
  extensionconfigs: "+Paused, Discovered, Age",
  devclusters: "Cluster, Age",
  devclustertemplates: "Age",
  devmachines: "Cluster, +Provider ID, Failure domain, +IP, +Paused, Provisioned, Age",
  devmachinetemplates: "Age",
};

const SHORT: Readonly<Record<string, string>> = {
  clusters: "cl",
  clusterclasses: "cc",
  machinedeployments: "md",
  machinesets: "ms",
  machines: "ma",
  machinehealthchecks: "mhc mhcs",
  kubeadmcontrolplanes: "kcp",
  extensionconfigs: "ext",
};

const GATED = new Set(["taints", "ignition"]);

/** Paused, so that no controller changes what is shown, and without what needs gates that are off. */
function shown(object: KubeObject): KubeObject {
  const without = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(without);
    if (typeof value !== "object" || value === null) return value === "ignition" ? "cloud-config" : value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => !GATED.has(key))
        .map(([key, inner]) => [key, without(inner)]),
    );
  };
  const annotations = { ...object.metadata.annotations, "cluster.x-k8s.io/paused": "" };
  return { ...(without(object) as KubeObject), metadata: { ...object.metadata, annotations } };
}

const headers = (output: string): readonly string[] => (output.split("\n")[0] ?? "").trim().split(/\s{2,}/);

const wanted = (columns: string, wide: boolean): readonly string[] => [
  "NAME",
  ...columns
    .split(", ")
    .filter((name) => wide || !name.startsWith("+"))
    .map((name) => name.replace("+", "").toUpperCase()),
];

it(
  "kubectl shows, explains and scales every kind",
  () =>
    withDev(({ kubeconfig }) =>
      withFolder(async (folder) => {
        const kubectl = kubectlWith(kubeconfig);
        const file = path.join(folder, "samples.yaml");
        writeFileSync(
          file,
          samples()
            .map((one) => stringify(shown(one), { aliasDuplicateObjects: false }))
            .join("---\n"),
        );
        kubectl("create", "namespace", "lab");
        kubectl("apply", "-f", file);
        const names = (...args: readonly string[]): readonly string[] =>
          kubectl("-n", "lab", "get", ...args, "-o", "name")
            .trim()
            .split("\n");

        for (const kind of allKinds) {
          const { plural, namespaced } = kind.resource;
          const columns = COLUMNS[plural] ?? "no columns are known";
          expect([plural, ...headers(kubectl("-n", "lab", "get", plural))]).toEqual([plural, ...wanted(columns, false)]);
          expect([plural, ...headers(kubectl("-n", "lab", "get", plural, "-o", "wide"))]).toEqual([plural, ...wanted(columns, true)]);
          for (const short of (SHORT[plural] ?? "").split(" ").filter((name) => name !== "")) expect(names(short)).toEqual(names(plural));
          expect([...kind.shortNames].sort()).toEqual((SHORT[plural] ?? "").split(" ").filter((name) => name !== ""));
          if (namespaced) expect(names("cluster-api")).toEqual(expect.arrayContaining([...names(plural)]));
          const flat = (text: string): string => text.replace(/\s+/g, " ");
          expect(flat(kubectl("explain", plural))).toContain(flat(kind.schema.description ?? "no description"));
          expect(kubectl("explain", `${plural}.spec`)).toMatch(/FIELDS:\n {2}\w/);
        }
        expect(kubectl("explain", "machines.spec.deletion.nodeDrainTimeoutSeconds")).toContain("seconds");

        for (const [target, replicas] of [
          ["machinedeployments/workers", 4],
          ["machinesets/loose-set", 2],
          ["kubeadmcontrolplanes/plain-cp", 3],
        ] as const) {
          kubectl("-n", "lab", "scale", target, `--replicas=${replicas}`);
          expect(kubectl("-n", "lab", "get", target, "-o", "jsonpath={.spec.replicas}")).toBe(String(replicas));
        }
        expect(() => kubectl("-n", "lab", "scale", "kcp/plain-cp", "--replicas=2")).toThrow("odd");
      }),
    ),
  LIMIT_MS,
);
