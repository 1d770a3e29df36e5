import { describe, expect, it } from "@jest/globals";
import { builtinTypes } from "../builtin/index.ts";
import type { ApiObject } from "../object.ts";
import type { ResourceType } from "../registry.ts";
import { customColumns } from "./custom.ts";
import { tableOf } from "./index.ts";

const types = builtinTypes();
const typeOf = (kind: string): ResourceType => types.find((t) => t.kind === kind) as ResourceType;
const nowMs = Date.parse("2026-01-01T00:10:00Z");
const meta = (name: string) => ({ name, namespace: "ns", creationTimestamp: "2026-01-01T00:00:00Z" });

/** Cells of one object, by column name. */
function cells(kind: string, fields: object): Record<string, unknown> {
  const object = { apiVersion: "v1", kind, metadata: meta("x"), ...fields } as unknown as ApiObject;
  const table = tableOf(typeOf(kind), [object], {}, { nowMs });
  return Object.fromEntries(table.columnDefinitions.map((c, i) => [c.name, table.rows[0]?.cells[i]]));
}

describe("cells of built-in kinds", () => {
  it("a config map counts data and binary data", () => {
    expect(cells("ConfigMap", { data: { a: "1" }, binaryData: { b: "" } })).toEqual({ Name: "x", Data: 2, Age: "10m" });
  });

  it.each<[string, object, object]>([
    ["pending", { status: { phase: "Pending" } }, { Ready: "0/2", Status: "Pending", Restarts: "0" }],
    [
      "one of two ready, restarted",
      {
        status: {
          phase: "Running",
          containerStatuses: [
            {
              name: "a",
              ready: true,
              restartCount: 2,
              state: { running: {} },
              lastState: { terminated: { finishedAt: "2026-01-01T00:09:00Z" } },
            },
            { name: "b", ready: false, restartCount: 0, state: { waiting: { reason: "CrashLoopBackOff" } } },
          ],
        },
      },
      { Ready: "1/2", Status: "CrashLoopBackOff", Restarts: "2 (60s ago)" },
    ],
    [
      "held by an init container",
      {
        spec: { initContainers: [{ name: "i" }, { name: "j" }], containers: [{ name: "a" }] },
        status: {
          phase: "Pending",
          initContainerStatuses: [
            { name: "i", state: { terminated: { exitCode: 0 } } },
            { name: "j", state: { running: {} } },
          ],
        },
      },
      { Ready: "0/1", Status: "Init:1/2" },
    ],
    [
      "going",
      { metadata: { ...meta("x"), deletionTimestamp: "2026-01-01T00:10:00Z" }, status: { phase: "Running" } },
      { Status: "Terminating" },
    ],
    ["evicted", { status: { phase: "Failed", reason: "Evicted" } }, { Status: "Evicted" }],
  ])("a pod %s", (_, fields, expected) => {
    expect(cells("Pod", { spec: { containers: [{ name: "a" }, { name: "b" }] }, ...fields })).toMatchObject(expected);
  });

  it.each<[string, object, object]>([
    [
      "Node",
      {
        metadata: { ...meta("x"), labels: { "node-role.kubernetes.io/control-plane": "" } },
        spec: { unschedulable: true },
        status: { conditions: [{ type: "Ready", status: "True" }], nodeInfo: { kubeletVersion: "v1.36.0" } },
      },
      { Status: "Ready,SchedulingDisabled", Roles: "control-plane", Version: "v1.36.0", "Internal-IP": "<none>" },
    ],
    [
      "Service",
      { spec: { type: "LoadBalancer", clusterIP: "10.0.0.1", ports: [{ port: 80, protocol: "TCP", nodePort: 30001 }] } },
      { "External-IP": "<pending>", "Port(s)": "80:30001/TCP" },
    ],
    [
      "Deployment",
      { spec: { replicas: 3 }, status: { readyReplicas: 1, updatedReplicas: 2 } },
      { Ready: "1/3", "Up-to-date": 2, Available: 0 },
    ],
    [
      "PodDisruptionBudget",
      { spec: { minAvailable: "50%" }, status: { disruptionsAllowed: 1 } },
      { "Min Available": "50%", "Max Unavailable": "N/A", "Allowed Disruptions": 1 },
    ],
    [
      "RoleBinding",
      { roleRef: { kind: "Role", name: "r" }, subjects: [{ kind: "ServiceAccount", name: "s", namespace: "n" }] },
      { Role: "Role/r", ServiceAccounts: "n/s", Users: "" },
    ],
  ])("a %s", (kind, fields, expected) => {
    expect(cells(kind, fields)).toMatchObject(expected);
  });

  it("a kind without columns shows when it was created", () => {
    expect(cells("LimitRange", {})).toEqual({ Name: "x", "Created At": "2026-01-01T00:00:00Z" });
  });
});

describe("rows", () => {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: meta("x"), data: { a: "1" } } as unknown as ApiObject;
  it.each<["None" | "Metadata" | "Object", unknown]>([
    ["None", null],
    ["Metadata", { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata }],
    ["Object", object],
  ])("carry with includeObject=%s", (includeObject, expected) => {
    expect(tableOf(typeOf("ConfigMap"), [object], {}, { nowMs, includeObject }).rows[0]?.object).toEqual(expected);
  });
});

describe("columns of custom resources", () => {
  const show = (column: { type: string; jsonPath: string }, spec: object) => {
    const [, cell] = customColumns([{ name: "C", ...column }]);
    return cell?.cell({ apiVersion: "g/v1", kind: "K", metadata: {}, spec } as unknown as ApiObject, nowMs);
  };
  it.each<[string, string, object, unknown]>([
    ["integer", ".spec.n", { n: 3 }, 3],
    ["integer", ".spec.n", { n: "3" }, null], // wrong type shows nothing
    ["string", ".spec.n", { n: 3 }, "3"],
    ["string", ".spec.l[*]", { l: ["a", "b"] }, "a b"],
    ["string", ".spec.o", { o: { a: 1 } }, '{"a":1}'],
    ["boolean", ".spec.b", { b: true }, true],
    ["date", ".spec.d", { d: "2026-01-01T00:09:00Z" }, "60s"],
    ["string", ".spec.none", {}, null],
    ["string", ".spec[", { n: 1 }, null], // a path that cannot be read
  ])("%s %s of %j", (type, jsonPath, spec, expected) => {
    expect(show({ type, jsonPath }, spec)).toEqual(expected);
  });
  it("are name and age when the CRD has none", () => {
    expect(customColumns(undefined).map((c) => [c.name, c.type])).toEqual([
      ["Name", "string"],
      ["Age", "date"],
    ]);
  });
});
