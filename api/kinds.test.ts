import { describe, expect, it } from "@jest/globals";
import { allKinds, kindOf } from "./index.ts";
import type { KindDefinition } from "./kind.ts";
import type { JsonSchema } from "./meta/schema.ts";

const names = (kind: KindDefinition): string => {
  const { group, version, plural, namespaced } = kind.resource;
  const subresources = [...(kind.statusSubresource ? ["status"] : []), ...(kind.scale ? ["scale"] : [])].join(" ") || "-";
  const required = kind.schema.required?.join(" ") ?? "-";
  return [
    `${plural}.${group}/${version}`,
    kind.shortNames.join(" ") || "-",
    namespaced ? "Namespaced" : "Cluster",
    subresources,
    required,
  ].join(" | ");
};

describe("identity of the kinds", () => {
  it.each(
    `
    Cluster                     | clusters.cluster.x-k8s.io/v1beta2                                  | cl       | Namespaced | status       | spec
    ClusterClass                | clusterclasses.cluster.x-k8s.io/v1beta2                            | cc       | Namespaced | status       | spec
    MachineDeployment           | machinedeployments.cluster.x-k8s.io/v1beta2                        | md       | Namespaced | status scale | spec
    MachineSet                  | machinesets.cluster.x-k8s.io/v1beta2                               | ms       | Namespaced | status scale | spec
    Machine                     | machines.cluster.x-k8s.io/v1beta2                                  | ma       | Namespaced | status       | spec
    MachineHealthCheck          | machinehealthchecks.cluster.x-k8s.io/v1beta2                       | mhc mhcs | Namespaced | status       | spec
    KubeadmConfig               | kubeadmconfigs.bootstrap.cluster.x-k8s.io/v1beta2                  | -        | Namespaced | status       | -
    KubeadmConfigTemplate       | kubeadmconfigtemplates.bootstrap.cluster.x-k8s.io/v1beta2          | -        | Namespaced | -            | -
    KubeadmControlPlane         | kubeadmcontrolplanes.controlplane.cluster.x-k8s.io/v1beta2         | kcp      | Namespaced | status scale | spec
    KubeadmControlPlaneTemplate | kubeadmcontrolplanetemplates.controlplane.cluster.x-k8s.io/v1beta2 | -        | Namespaced | -            | -
    ExtensionConfig             | extensionconfigs.runtime.cluster.x-k8s.io/v1beta2                  | ext      | Cluster    | status       | spec
    DevCluster                  | devclusters.infrastructure.cluster.x-k8s.io/v1beta2                | -        | Namespaced | status       | -
    DevClusterTemplate          | devclustertemplates.infrastructure.cluster.x-k8s.io/v1beta2        | -        | Namespaced | -            | -
    DevMachine                  | devmachines.infrastructure.cluster.x-k8s.io/v1beta2                | -        | Namespaced | status       | -
    DevMachineTemplate          | devmachinetemplates.infrastructure.cluster.x-k8s.io/v1beta2        | -        | Namespaced | status       | -
    `
      .trim()
      .split("\n")
      .map((row) => row.split("|").map((cell) => cell.trim())),
  )("%s", (kind, ...rest) => {
    const definition = kindOf(kind as string);
    expect(definition && names(definition)).toBe(rest.join(" | "));
  });

  it("the table is complete", () => expect(allKinds).toHaveLength(15));
});

/** Every schema below a root, with its path. */
function* walk(path: string, schema: JsonSchema): Generator<readonly [string, JsonSchema]> {
  yield [path, schema];
  for (const [name, property] of Object.entries(schema.properties ?? {})) yield* walk(`${path}.${name}`, property);
  if (schema.items) yield* walk(`${path}[]`, schema.items);
  if (typeof schema.additionalProperties === "object") yield* walk(`${path}{}`, schema.additionalProperties);
}
const everySchema = allKinds.flatMap((kind) => [...walk(kind.resource.kind, kind.schema)]);
const failing = (good: (schema: JsonSchema, path: string) => boolean): readonly string[] =>
  everySchema.filter(([path, schema]) => !good(schema, path)).map(([path]) => path);

describe("every schema", () => {
  it("has a type, or says why not", () =>
    expect(
      failing(
        (s) => s.type !== undefined || s["x-kubernetes-preserve-unknown-fields"] === true || s["x-kubernetes-int-or-string"] === true,
      ),
    ).toEqual([]));

  it("is described", () => expect(failing((s, path) => s.description !== undefined || /(\.metadata|\{\})$/.test(path))).toEqual([]));

  it("requires only properties it has", () =>
    expect(failing((s) => (s.required ?? []).every((name) => s.properties?.[name] !== undefined))).toEqual([]));

  it("tells items of a list map apart by scalars that are always there", () =>
    expect(
      failing((s) => {
        if (s["x-kubernetes-list-type"] !== "map") return true;
        const keys = s["x-kubernetes-list-map-keys"] ?? [];
        return keys.length > 0 && keys.every((key) => s.items?.required?.includes(key) && s.items.properties?.[key]?.type === "string");
      }),
    ).toEqual([]));

  it("has bounds in order", () =>
    expect(
      failing(
        (s) =>
          (s.minLength ?? 0) <= (s.maxLength ?? Number.POSITIVE_INFINITY) &&
          (s.minItems ?? 0) <= (s.maxItems ?? Number.POSITIVE_INFINITY) &&
          (s.minimum ?? Number.NEGATIVE_INFINITY) <= (s.maximum ?? Number.POSITIVE_INFINITY),
      ),
    ).toEqual([]));

  it("has patterns that compile", () =>
    expect(failing((s) => s.pattern === undefined || new RegExp(s.pattern) instanceof RegExp)).toEqual([]));
});

describe("printer columns", () => {
  it.each([
    ["MachineDeployment", "Cluster, Available, Desired, Current, Ready, Available, Up-to-date, (Paused), Phase, Age, Version"],
    ["MachineSet", "Cluster, Desired, Current, Ready, Available, Up-to-date, (Paused), Age, Version"],
    [
      "Machine",
      "Cluster, Node Name, (Provider ID), Failure domain, Ready, Available, Up-to-date, (Internal-IP), (External-IP), (OS-Image), (Paused), Phase, Age, Version",
    ],
    ["KubeadmControlPlane", "Cluster, Available, Desired, Current, Ready, Available, Up-to-date, (Paused), Initialized, Age, Version"],
    ["KubeadmConfig", "Cluster, (Paused), Data secret created, Age"],
    ["ExtensionConfig", "(Paused), Discovered, Age"],
    ["DevMachine", "Cluster, (Provider ID), Failure domain, (IP), (Paused), Provisioned, Age"],
  ])("%s: wide ones in brackets", (kind, columns) => {
    const shown = kindOf(kind)?.columns.map((c) => ((c.priority ?? 0) > 0 ? `(${c.name})` : c.name));
    expect(shown?.join(", ")).toBe(columns);
  });
});
