// From an AdmissionReview's request to its answer: statuses and patches, apart from any kind's rules.
import { describe, expect, it } from "@jest/globals";
import { applyPatch, type Operation } from "fast-json-patch";
import fc from "fast-check";
import { clusterRules } from "./cluster.ts";
import { aCluster } from "./clusterclass.testing.ts";
import { webhookConfigurations } from "./configuration.ts";
import { ruleSets } from "./index.ts";
import { kubeadmControlPlaneRules } from "./kubeadmcontrolplane.ts";
import { mutate, patchBetween, validate } from "./review.ts";
import { Unreadable } from "./rule-set.ts";
import { changed } from "./table.testing.ts";

const nothing = { gate: () => true, found: () => undefined, listed: () => [] };
const create = (object: object) => ({ operation: "CREATE", object, oldObject: null });

describe("verdicts", () => {
  it("names kind, group and every cause", () => {
    const { status } = validate(clusterRules, create(changed(aCluster, { "/spec/topology/version": "x" })), nothing);
    expect(status).toMatchObject({ code: 422, reason: "Invalid", details: { kind: "Cluster", group: "cluster.x-k8s.io", name: "harbor" } });
    expect(status?.details?.causes?.map((c) => c.field)).toEqual(["spec.topology.version", "spec.topology.version"]);
    expect(status?.message).toMatch(/^Cluster\.cluster\.x-k8s\.io "harbor" is invalid: \[.*, .*\]$/);
  });

  it("names the group that upstream names", () => {
    const { status } = validate(kubeadmControlPlaneRules, create({ ...aCluster, spec: {} }), nothing);
    expect(status?.details?.group).toBe("cluster.x-k8s.io");
  });

  it("tells what could not be read: as an error of the defaults, and as a cause of the validation", () => {
    const broken = {
      ...nothing,
      found: () => {
        throw new Unreadable("ClusterClass cannot be read: down");
      },
    };
    expect(mutate(clusterRules, create(aCluster), broken).status).toMatchObject({ code: 500, reason: "InternalError" });
    const { status, warnings } = validate(clusterRules, create(aCluster), broken);
    expect(status?.details?.causes).toMatchObject([{ reason: "InternalError", field: "spec.topology.class" }]);
    expect(warnings).toEqual([expect.stringContaining("down")]);
  });

  it("lets through what no rule is about", () => {
    expect(mutate(clusterRules, { operation: "CONNECT", object: null, oldObject: null }, nothing)).toEqual({ allowed: true });
    expect(validate(clusterRules, { operation: "DELETE", object: null, oldObject: aCluster }, nothing)).toEqual({ allowed: true });
  });
});

describe("patches", () => {
  const json = fc
    .object({ maxDepth: 3, values: [fc.string(), fc.integer(), fc.boolean(), fc.constant(null)] })
    .map((o) => JSON.parse(JSON.stringify(o)));
  it("lead from one object to the other", () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        const patched = applyPatch(
          structuredClone(before),
          [...patchBetween(before, after)] as Operation[],
          false,
          true,
          false,
        ).newDocument;
        expect(patched).toEqual(after);
      }),
      { seed: 7, numRuns: 300 },
    );
  });
  it("are none when nothing changed", () => {
    expect(patchBetween({ a: { b: [1] } }, { a: { b: [1] } })).toEqual([]);
  });
});

describe("configurations", () => {
  it("have every rule set once, under its own path", () => {
    const paths = webhookConfigurations({ url: "https://h" }, "Y2E=").flatMap((one) =>
      (one as unknown as { webhooks: { clientConfig: { url: string; caBundle: string } }[] }).webhooks.map((w) => w.clientConfig.url),
    );
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths.length).toBe(ruleSets.filter((r) => r.defaults).length + ruleSets.filter((r) => r.validate).length);
    expect(paths).toContain("https://h/validate/clusterclass.cluster.x-k8s.io");
    expect(paths).not.toContain("https://h/mutate/clusterclass.cluster.x-k8s.io");
  });
});
