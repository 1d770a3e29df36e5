import { describe, expect, it } from "@jest/globals";
import { coversMachine, jsonMergePatch, jsonPatch } from "./answers.ts";
import { coverageTexts, machineCoverage, machineSetCoverage } from "./coverage.ts";
import { canUpdateRequest, machineObjects, setObjects } from "./testing/fixtures.ts";

const texts = (current: ReturnType<typeof machineObjects>, desired: ReturnType<typeof machineObjects>, answer: object = {}) =>
  coverageTexts(machineCoverage(canUpdateRequest(current, desired), { status: "Success", ...answer }));
const version = jsonPatch([{ op: "replace", path: "/spec/version", value: "v1.35.1" }]);

describe("coverage of a Machine", () => {
  it.each([
    ["equal objects, no patch", machineObjects(), {}, []],
    ["version, covered", machineObjects({ version: "v1.35.1" }), { machinePatch: version }, []],
    ["version, not covered", machineObjects({ version: "v1.35.1" }), {}, ["Machine cannot be updated in place: .spec.version differs"]],
    [
      "covered with another value",
      machineObjects({ version: "v1.36.0" }),
      { machinePatch: version },
      ["Machine cannot be updated in place: .spec.version differs"],
    ],
    [
      "covering what did not change",
      machineObjects(),
      { machinePatch: version },
      ["Machine cannot be updated in place: .spec.version differs"],
    ],
    [
      "fields that are not compared",
      machineObjects({
        providerID: "x",
        taints: [1],
        minReadySeconds: 5,
        readinessGates: [],
        deletion: { nodeDrainTimeoutSeconds: 9 },
        clusterName: "z",
      }),
      {},
      [],
    ],
    [
      "fields that are compared",
      machineObjects({ failureDomain: "b", deletion: { nodeDrainTimeoutSeconds: 9, other: 1 } }),
      {},
      ["Machine cannot be updated in place: .spec.deletion, .spec.failureDomain differ"],
    ],
    [
      "infrastructure",
      machineObjects({}, { backend: { image: "b" } }),
      {},
      ["DevMachine cannot be updated in place: .spec.backend differs"],
    ],
    ["bootstrap on one side", machineObjects({}, {}, { files: [] }), {}, ["KubeadmConfig cannot be updated in place: .spec differs"]],
  ])("%s", (_title, desired, answer, expected) => expect(texts(machineObjects(), desired, answer)).toEqual(expected));

  it("looks into lists of equal length, and names odd keys in brackets", () => {
    const current = machineObjects({}, {}, { files: [{ path: "/a", content: "x" }], users: [{}], labels: { "a.b/c": "1" } });
    const desired = machineObjects({}, {}, { files: [{ path: "/a", content: "y" }], users: [{}, {}], labels: { "a.b/c": "2" } });
    expect(texts(current, desired)).toEqual([
      'KubeadmConfig cannot be updated in place: .spec.files[0].content, .spec.labels["a.b/c"], .spec.users differ',
    ]);
  });

  it("a patch of metadata changes nothing and is no fault", () => {
    const answer = { machinePatch: jsonMergePatch({ metadata: { labels: { x: "y" } }, spec: { version: "v1.35.1" } }) };
    expect(texts(machineObjects(), machineObjects({ version: "v1.35.1" }), answer)).toEqual([]);
  });

  it("a patch that cannot be applied is an error, never a no", () => {
    const bad = { infrastructureMachinePatch: jsonPatch([{ op: "replace", path: "/spec/a/b", value: 1 }]) };
    expect(() => texts(machineObjects(), machineObjects(), bad)).toThrow("infrastructureMachinePatch cannot be applied");
  });
});

describe("covering by paths", () => {
  const current = machineObjects({}, { backend: { image: "a" } }, { files: [1], ntp: { servers: ["x"] } });
  const desired = machineObjects({ version: "v1.35.1" }, { backend: { image: "b", new: { deep: [1] } } }, { files: [1, 2] });

  it("changed, added below missing parents, and removed fields", () => {
    const answer = coversMachine(canUpdateRequest(current, desired), {
      machine: [".spec.version", ".spec.failureDomain"],
      infrastructureMachine: [".spec.backend.image", ".spec.backend.new.deep"],
      bootstrapConfig: [".spec.files", ".spec.ntp"],
    });
    expect(texts(current, desired, answer)).toEqual([]);
    expect(answer.machinePatch?.patchType).toBe("JSONPatch");
  });

  it("nothing differs, no patch", () => {
    expect(coversMachine(canUpdateRequest(current, current), { machine: [".spec.version"] }).machinePatch).toBeUndefined();
  });
});

describe("coverage of a MachineSet", () => {
  const set = (name: string, v: string, image: string) => setObjects(name, { version: v }, { image }, { files: [] });
  const request = (current: ReturnType<typeof setObjects>, desired: ReturnType<typeof setObjects>) =>
    ({ apiVersion: "hooks.runtime.cluster.x-k8s.io/v1alpha1", kind: "CanUpdateMachineSetRequest", current, desired }) as const;

  it("compares the templates' specs only: names, replicas and labels of sets do not count", () => {
    expect(machineSetCoverage(request(set("old", "v1", "a"), set("new", "v1", "a")), { status: "Success" })).toEqual([]);
  });

  it("tells what is left per object", () => {
    const answer = {
      status: "Success",
      machineSetPatch: jsonMergePatch({ spec: { replicas: 9, template: { spec: { version: "v2" } } } }),
    } as const;
    expect(machineSetCoverage(request(set("old", "v1", "a"), set("new", "v2", "b")), answer)).toEqual([
      { kind: "DevMachineTemplate", paths: [".spec.template.spec.image"] },
    ]);
  });
});
