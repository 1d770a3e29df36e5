// CRDs in a running server: served when created, changed with their spec, gone with their objects.
import { describe, expect, it } from "@jest/globals";
import { builtinTypes } from "../builtin/index.ts";
import { type Answer, type TestServer, testServer } from "../builtin/real/testing.ts";
import { crdController, crdStrategy, ensureCrds } from "./index.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const MERGE = { "content-type": "application/merge-patch+json" };

const start = (): Promise<TestServer> =>
  testServer({ types: builtinTypes({ strategies: { CustomResourceDefinition: crdStrategy } }), background: [crdController] });

const version = (name: string, more: object = {}): object => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: { a: { type: "string" } } } } } },
  ...more,
});

interface Names {
  plural: string;
  kind: string;
  listKind?: string;
  shortNames?: string[];
}

const crd = (names: Names, versions: object[] = [version("v1")], more: object = {}) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${names.plural}.ex.com` },
  spec: { group: "ex.com", scope: "Cluster", names, versions, ...more },
});

const WIDGET = { plural: "widgets", kind: "Widget" };
const widget = (name: string, more: object = {}) => ({ apiVersion: "ex.com/v1", kind: "Widget", metadata: { name }, ...more });
const causes = (answer: Answer): string[] =>
  (answer.body.details?.causes ?? []).map((c: { field: string; reason: string }) => `${c.field} ${c.reason.replace("FieldValue", "")}`);
const conditions = (answer: Answer): string[] =>
  (answer.body.status.conditions ?? []).map((c: { type: string; status: string; reason: string }) => `${c.type}=${c.status} ${c.reason}`);

describe("a CRD", () => {
  it("is served with no wait after its creation", async () => {
    const s = await start();
    const created = await s.call("POST", CRDS, crd(WIDGET));
    expect(created.body.status).toEqual({ acceptedNames: { kind: "", plural: "" }, conditions: null, storedVersions: ["v1"] });
    await s.settle();
    const read = await s.call("GET", `${CRDS}/widgets.ex.com`);
    expect(conditions(read)).toEqual(["NamesAccepted=True NoConflicts", "Established=True InitialNamesAccepted"]);
    expect(read.body.status.acceptedNames).toEqual({ plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" });
    expect((await s.call("POST", "/apis/ex.com/v1/widgets", widget("w", { spec: { a: "1", b: 2 } }))).body.spec).toEqual({ a: "1" });
  });

  it("is brought up together with others by who starts a server", async () => {
    const s = await start();
    const names = ["widgets", "gadgets"].map((plural) => ({ plural, kind: plural.slice(0, -1) }));
    await ensureCrds(s.server, names.map((n) => crd(n)) as never);
    expect(names.map((n) => s.server.registry.byPath("ex.com", "v1", n.plural)?.kind)).toEqual(["widget", "gadget"]);
    const before = s.server.registry.byPath("ex.com", "v1", "widgets");
    await ensureCrds(s.server, names.map((n) => crd(n)) as never);
    expect(s.server.registry.byPath("ex.com", "v1", "widgets")).toBe(before);
  });

  it("is served again by a server that starts over the same store", async () => {
    const s = await start();
    await ensureCrds(s.server, [crd(WIDGET)] as never);
    const again = await testServer({
      store: s.server.store,
      types: builtinTypes({ strategies: { CustomResourceDefinition: crdStrategy } }),
      background: [crdController],
    });
    expect((await again.call("GET", "/apis/ex.com/v1/widgets")).status).toBe(200);
  });

  it("changes what it serves with its spec: versions come and go, the compiled schema of others stays", async () => {
    const s = await start();
    await ensureCrds(s.server, [crd(WIDGET, [version("v1"), version("v2", { storage: false })])] as never);
    await s.call("POST", "/apis/ex.com/v1/widgets", widget("w", { spec: { a: "1" } }));
    const v1 = s.server.registry.byPath("ex.com", "v1", "widgets");
    expect((await s.call("GET", "/apis/ex.com/v2/widgets/w")).body.apiVersion).toBe("ex.com/v2");
    const gone = [version("v1"), version("v2", { storage: false, served: false })];
    const patched = await s.call("PATCH", `${CRDS}/widgets.ex.com`, { spec: { versions: gone } }, MERGE);
    expect(patched.body.metadata.generation).toBe(2);
    await s.settle();
    expect((await s.call("GET", "/apis/ex.com/v2/widgets/w")).status).toBe(404);
    expect(s.server.registry.byPath("ex.com", "v1", "widgets")?.schema).toBe(v1?.schema);
  });

  it("keeps the versions that objects may be stored in", async () => {
    const s = await start();
    await ensureCrds(s.server, [crd(WIDGET)] as never);
    const moved = [version("v1", { storage: false }), version("v2")];
    const second = await s.call("PATCH", `${CRDS}/widgets.ex.com`, { spec: { versions: moved } }, MERGE);
    expect(second.body.status.storedVersions).toEqual(["v1", "v2"]);
    const dropped = await s.call("PATCH", `${CRDS}/widgets.ex.com`, { spec: { versions: [version("v2")] } }, MERGE);
    expect(causes(dropped)).toEqual(["status.storedVersions[0] Invalid"]);
  });

  it("keeps its scope and kind once it is established", async () => {
    const s = await start();
    await ensureCrds(s.server, [crd(WIDGET)] as never);
    const change = { spec: { scope: "Namespaced", names: { kind: "Gizmo" } } };
    expect(causes(await s.call("PATCH", `${CRDS}/widgets.ex.com`, change, MERGE))).toEqual([
      "spec.scope Invalid",
      "spec.names.kind Invalid",
    ]);
  });

  it("says that conversion webhooks are not called", async () => {
    const s = await start();
    const webhook = { clientConfig: { url: "https://x.ex.com" }, conversionReviewVersions: ["v1"] };
    const answer = await s.call("POST", CRDS, crd(WIDGET, [version("v1")], { conversion: { strategy: "Webhook", webhook } }));
    expect([answer.status, answer.headers.warning]).toEqual([201, expect.stringContaining("conversion webhooks are not called")]);
  });

  it("warns of formats that mean nothing, once", async () => {
    const s = await start();
    const withFormats = (...formats: object[]): object =>
      version("v1", {
        schema: { openAPIV3Schema: { type: "object", properties: Object.fromEntries(formats.map((f, i) => [`p${i}`, f])) } },
      });
    const odd = [
      { type: "string", format: "made-up" },
      { type: "integer", format: "date" },
      { type: "array", items: { type: "object", additionalProperties: { type: "number", format: "int32" } } },
    ];
    const known = [
      { type: "string", format: "date-time" },
      { type: "string", format: "k8s-short-name" },
      { type: "string", format: "password" },
      { type: "integer", format: "int64" },
      { type: "number", format: "double" },
    ];
    const created = await s.call("POST", CRDS, crd(WIDGET, [withFormats(...known, ...odd)]));
    expect(created.headers.warning?.match(/unrecognized format \\"[^"]*"/g)).toEqual(
      ["date", "int32", "made-up"].map((format) => `unrecognized format \\"${format}\\"`),
    );
    const versions = [withFormats(...known, ...odd, { type: "string", format: "new" })];
    const changed = await s.call("PATCH", `${CRDS}/widgets.ex.com`, { spec: { versions } }, MERGE);
    expect(changed.headers.warning).toMatch(/^299 - "unrecognized format \\"new\\""$/);
  });

  it("warns of a deprecated version", async () => {
    const s = await start();
    await ensureCrds(s.server, [crd(WIDGET, [version("v1", { deprecated: true })])] as never);
    expect((await s.call("GET", "/apis/ex.com/v1/widgets")).headers.warning).toContain("ex.com/v1 Widget is deprecated");
  });
});

describe("a custom resource", () => {
  const scaled = version("v1", {
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: {
          spec: { type: "object", properties: { r: { type: "integer" } } },
          status: {
            type: "object",
            properties: { r: { type: "integer" }, s: { type: "string", enum: ["x"] } },
            not: { required: ["bad"] },
          },
        },
      },
    },
    subresources: { status: {}, scale: { specReplicasPath: ".spec.r", statusReplicasPath: ".status.r" } },
  });

  it("has replicas that can be scaled", async () => {
    const s = await start();
    await ensureCrds(s.server, [crd(WIDGET, [scaled])] as never);
    expect(causes(await s.call("POST", "/apis/ex.com/v1/widgets", widget("w", { spec: { r: -1 } })))).toEqual([".spec.r Invalid"]);
    expect((await s.call("POST", "/apis/ex.com/v1/widgets", widget("w", { spec: { r: 1 } }))).status).toBe(201);
    const status = (value: object) => s.call("PATCH", "/apis/ex.com/v1/widgets/w/status", { status: value }, MERGE);
    expect(causes(await status({ r: -1 }))).toEqual([".status.r Invalid"]);
    expect(causes(await status({ s: "y" }))).toEqual(["status.s NotSupported"]);
    expect((await status({ r: 1, s: "x" })).status).toBe(200);
  });

  it("is warned of finalizers that could clash", async () => {
    const s = await start();
    await ensureCrds(s.server, [crd(WIDGET)] as never);
    const warned = async (finalizers: string[]) =>
      (await s.call("POST", "/apis/ex.com/v1/widgets?dryRun=All", widget("w", { metadata: { name: "w", finalizers } }))).headers.warning ??
      "";
    expect(await warned(["ex.com/held", "orphan"])).toBe("");
    expect(await warned(["held"])).toContain("prefer a domain-qualified finalizer name to avoid");
    expect(await warned(["held.ex.com"])).toContain("including a path (/)");
  });
});

describe("names", () => {
  it("go to who came first, and to the second when the first goes", async () => {
    const s = await start();
    await ensureCrds(s.server, [
      crd({ ...WIDGET, shortNames: ["w"] }),
      crd({ plural: "others", kind: "Widget", shortNames: ["w"] }),
    ] as never);
    const others = await s.call("GET", `${CRDS}/others.ex.com`);
    expect(conditions(others)).toEqual(["NamesAccepted=False ListKindConflict", "Established=False NotAccepted"]);
    expect(others.body.status.acceptedNames).toEqual({ plural: "others", kind: "" });
    expect((await s.call("GET", "/apis/ex.com/v1/others")).status).toBe(404);
    await s.call("DELETE", `${CRDS}/widgets.ex.com`);
    await s.settle();
    expect(conditions(await s.call("GET", `${CRDS}/others.ex.com`))).toEqual([
      "NamesAccepted=True NoConflicts",
      "Established=True InitialNamesAccepted",
    ]);
    expect((await s.call("GET", "/apis/ex.com/v1/others")).status).toBe(200);
  });
});

describe("deletion", () => {
  it("takes the objects along, and a CRD made again starts empty", async () => {
    const s = await start();
    await ensureCrds(s.server, [crd(WIDGET)] as never);
    await s.call("POST", "/apis/ex.com/v1/widgets", widget("w"));
    const deleted = await s.call("DELETE", `${CRDS}/widgets.ex.com`);
    expect(conditions(deleted).at(-1)).toBe("Terminating=True InstanceDeletionPending");
    expect(deleted.body.metadata.finalizers).toEqual(["customresourcecleanup.apiextensions.k8s.io"]);
    await s.settle();
    expect((await s.call("GET", `${CRDS}/widgets.ex.com`)).status).toBe(404);
    expect((await s.call("GET", "/apis/ex.com/v1/widgets")).status).toBe(404);
    await ensureCrds(s.server, [crd(WIDGET)] as never);
    expect((await s.call("GET", "/apis/ex.com/v1/widgets")).body.items).toEqual([]);
  });

  it("waits for finalizers of objects, while no new ones may come", async () => {
    const s = await start();
    await ensureCrds(s.server, [crd(WIDGET)] as never);
    await s.call("POST", "/apis/ex.com/v1/widgets", widget("w", { metadata: { name: "w", finalizers: ["ex.com/held"] } }));
    await s.call("DELETE", `${CRDS}/widgets.ex.com`);
    await s.settle();
    expect(conditions(await s.call("GET", `${CRDS}/widgets.ex.com`)).at(-1)).toBe("Terminating=True InstanceDeletionInProgress");
    const refused = await s.call("POST", "/apis/ex.com/v1/widgets", widget("x"));
    expect([refused.status, refused.body.details]).toEqual([405, { group: "ex.com", kind: "widgets" }]);
    await s.call("PATCH", "/apis/ex.com/v1/widgets/w", { metadata: { finalizers: null } }, MERGE);
    await s.settle();
    expect((await s.call("GET", `${CRDS}/widgets.ex.com`)).status).toBe(404);
  });
});

describe("rules of CRDs", () => {
  const rows: [why: string, crd: object, causes: string[]][] = [
    ["no versions", crd(WIDGET, []), ["spec.versions Invalid", "status.storedVersions Invalid"]],
    ["two storage versions", crd(WIDGET, [version("v1"), version("v2")]), ["spec.versions Invalid"]],
    ["a version named twice", crd(WIDGET, [version("v1"), version("v1", { storage: false })]), ["spec.versions Invalid"]],
    [
      "a version without a schema",
      crd(WIDGET, [version("v1", { schema: undefined })]),
      ["spec.versions[0].schema.openAPIV3Schema Required"],
    ],
    [
      "a group without a dot",
      { ...crd(WIDGET, [version("v1")], { group: "ex" }), metadata: { name: "widgets.ex" } },
      ["spec.group Invalid"],
    ],
    [
      "a group of the community",
      { ...crd(WIDGET, [version("v1")], { group: "a.k8s.io" }), metadata: { name: "widgets.a.k8s.io" } },
      ["metadata.annotations[api-approved.kubernetes.io] Required"],
    ],
    ["a list named as its items", crd({ ...WIDGET, listKind: "Widget" }), ["spec.names.listKind Invalid"]],
    ["a short name of capitals", crd({ ...WIDGET, shortNames: ["w", "W"] }), ["spec.names.shortNames[1] Invalid"]],
    ["unknown fields kept for all", crd(WIDGET, [version("v1")], { preserveUnknownFields: true }), ["spec.preserveUnknownFields Invalid"]],
    [
      "an unknown conversion",
      crd(WIDGET, [version("v1")], { conversion: { strategy: "Magic" } }),
      ["spec.conversion.strategy NotSupported"],
    ],
    [
      "a conversion webhook without address",
      crd(WIDGET, [version("v1")], { conversion: { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"] } } }),
      ["spec.conversion.webhookClientConfig Required"],
    ],
    [
      "replicas outside the spec",
      crd(WIDGET, [version("v1", { subresources: { scale: { specReplicasPath: ".status.r", statusReplicasPath: "" } } })]),
      ["spec.subresources.scale.specReplicasPath Invalid", "spec.subresources.scale.statusReplicasPath Required"],
    ],
    [
      "a column of no type",
      crd(WIDGET, [version("v1", { additionalPrinterColumns: [{ name: "A", type: "text", jsonPath: "spec" }] })]),
      ["spec.additionalPrinterColumns[0].type Invalid", "spec.additionalPrinterColumns[0].JSONPath Invalid"],
    ],
    [
      "selecting by an object",
      crd(WIDGET, [version("v1", { selectableFields: [{ jsonPath: ".spec" }, { jsonPath: ".spec.z" }] })]),
      ["spec.selectableFields[0].jsonPath Invalid", "spec.selectableFields[1].jsonPath Invalid"],
    ],
    [
      "a warning for a version in good standing",
      crd(WIDGET, [version("v1", { deprecationWarning: "x" })]),
      ["spec.versions[0].deprecationWarning Invalid"],
    ],
    [
      "faults of one of two schemas name the version",
      crd(WIDGET, [
        version("v1"),
        version("v2", { storage: false, schema: { openAPIV3Schema: { type: "object", properties: { spec: {} } } } }),
      ]),
      ["spec.versions[1].schema.openAPIV3Schema.properties[spec].type Required"],
    ],
  ];
  it.each(rows)("%s", async (_, body, expected) => {
    const s = await start();
    const answer = await s.call("POST", CRDS, body);
    expect([answer.status, causes(answer).sort()]).toEqual([422, [...expected].sort()]);
  });
});
