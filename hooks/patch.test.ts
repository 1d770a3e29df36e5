import { describe, expect, it } from "@jest/globals";
import { encodeBase64 } from "./base64.ts";
import { applyHookPatch } from "./patch.ts";

const object = { metadata: { name: "m" }, spec: { version: "v1", files: [{ path: "/a" }], extra: { x: 1 } } };
const patchOf = (patchType: string | undefined, document: unknown) =>
  ({ patchType, patch: typeof document === "string" ? document : encodeBase64(JSON.stringify(document)) }) as never;
const apply = (patch: never) => applyHookPatch(object, patch, [["spec"]], "machinePatch");

describe("a patch in an answer", () => {
  it.each([
    ["none", undefined],
    ["both unset", {}],
    ["an empty JSON patch", patchOf("JSONPatch", [])],
    ["an empty merge patch", patchOf("JSONMergePatch", {})],
    ["a type and no patch", patchOf("JSONMergePatch", "")],
  ])("%s is nothing to do", (_title, patch) => expect(apply(patch as never)).toBe(object));

  it.each([
    ["replace", [{ op: "replace", path: "/spec/version", value: "v2" }], { ...object.spec, version: "v2" }],
    [
      "add to a list",
      [{ op: "add", path: "/spec/files/-", value: { path: "/b" } }],
      { ...object.spec, files: [{ path: "/a" }, { path: "/b" }] },
    ],
    ["remove", [{ op: "remove", path: "/spec/extra" }], { version: "v1", files: [{ path: "/a" }] }],
  ])("JSON patch: %s", (_title, document, spec) => expect(apply(patchOf("JSONPatch", document)).spec).toEqual(spec));

  it("a merge patch replaces lists whole and drops what is null", () => {
    expect(apply(patchOf("JSONMergePatch", { spec: { files: [], extra: null } })).spec).toEqual({ version: "v1", files: [] });
  });

  it("what is not allowed is dropped in silence", () => {
    const patch = patchOf("JSONMergePatch", { metadata: { name: "evil" }, status: { ready: true }, spec: { version: "v2" } });
    expect(apply(patch)).toEqual({ ...object, spec: { ...object.spec, version: "v2" } });
  });

  it("an allowed path that is gone keeps its value; the object itself is never changed", () => {
    const before = structuredClone(object);
    expect(apply(patchOf("JSONPatch", [{ op: "remove", path: "/spec" }]))).toBe(object);
    apply(patchOf("JSONPatch", [{ op: "replace", path: "/spec/extra/x", value: 2 }]));
    expect(object).toEqual(before);
  });

  it.each([
    ["patchType is not set", patchOf(undefined, [])],
    ['unknown patchType "StrategicMerge"', patchOf("StrategicMerge", {})],
    ["missing path", patchOf("JSONPatch", [{ op: "replace", path: "/spec/nothing/here", value: 1 }])],
    ["test failed", patchOf("JSONPatch", [{ op: "test", path: "/spec/version", value: "v9" }])],
    ["base64 of JSON text", patchOf("JSONPatch", "%%%")],
    ["base64 of JSON text", patchOf("JSONPatch", encodeBase64("not json"))],
    ["must be a list of operations", patchOf("JSONPatch", { spec: 1 })],
    ["must be a list of operations", patchOf("JSONPatch", {})],
    ["must be an object", patchOf("JSONMergePatch", [1])],
  ])("refused: %s", (message, patch) => {
    expect(() => apply(patch)).toThrow(message);
    expect(() => apply(patch)).toThrow("machinePatch cannot be applied");
  });
});
