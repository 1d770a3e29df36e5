// Objects made by chance from the schemas: what a schema allows is accepted, comes back as it was sent, and changes nothing when it is
// applied again. And whatever they are, webhooks judge them without a crash, and defaults made once are made.
import { beforeAll, describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { allKinds } from "../../api/index.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { compileSchema } from "../../schema/compile.ts";
import { ruleSets } from "../../webhooks/index.ts";
import { mutate, validate } from "../../webhooks/review.ts";
import { objectsOf } from "./generated.ts";
import { type KindServer, samples, startKinds } from "./in-process.ts";

// A failure is shown as it is: making large objects smaller takes minutes.
const RUNS = { seed: 20_260_821, numRuns: 20, endOnFailure: true } as const;
const LIMIT_MS = 60_000;

let plain: KindServer;
let whole: KindServer;
beforeAll(async () => {
  plain = await startKinds({ webhooks: false });
  whole = await startKinds();
});

// Objects of the larger kinds take minutes to make by chance; their samples stand in for them below and in bad-input.test.ts.
const KINDS = allKinds.filter(({ resource }) => ["Machine", "ExtensionConfig", "DevCluster", "DevMachine"].includes(resource.kind));

const specOf = (object: KubeObject | undefined): unknown => (object as { spec?: unknown } | undefined)?.spec;
const versionOf = (object: KubeObject | undefined): string | undefined => object?.metadata.resourceVersion;

describe.each(KINDS.map((kind) => [kind.resource.kind, kind] as const))("%s", (_name, kind) => {
  it(
    "is accepted, comes back, and is applied again without a change",
    async () => {
      const compiled = compileSchema(kind.schema);
      let count = 0;
      await fc.assert(
        fc.asyncProperty(objectsOf(kind), async (made) => {
          const object = { ...made, metadata: { ...made.metadata, name: `any-${count++}` } };
          const first = await plain.send("PATCH", object, "force=true");
          expect([first.code, first.status?.message]).toEqual([201, undefined]);
          const read = await plain.send("GET", object);
          expect(specOf(read.object)).toEqual(specOf(compiled.defaultAndPrune(object)));
          const again = await plain.send("PATCH", object, "force=true");
          expect([again.code, versionOf(again.object)]).toEqual([200, versionOf(first.object)]);
        }),
        RUNS,
      );
    },
    LIMIT_MS,
  );

  it(
    "is judged without a crash, and defaulted once",
    () => {
      const environment = { gate: () => true, found: () => undefined, listed: () => [] };
      fc.assert(
        fc.property(objectsOf(kind), (object) => {
          for (const rules of ruleSets.filter((r) => r.kind === kind && !r.subresource)) {
            const request = { operation: "CREATE", object, oldObject: null };
            const first = mutate(rules, request, environment);
            const defaulted = first.object ?? object;
            if (first.allowed) expect(mutate(rules, { ...request, object: defaulted }, environment)).toEqual({ allowed: true });
            const verdict = validate(rules, { ...request, object: defaulted }, environment);
            const update = validate(rules, { operation: "UPDATE", object: defaulted, oldObject: object }, environment);
            for (const one of [first, verdict, update]) expect(one.allowed || (one.status?.code ?? 0) >= 400).toBe(true);
          }
        }),
        RUNS,
      );
    },
    LIMIT_MS,
  );
});

it.each(samples().map((sample) => [`${sample.kind} ${sample.metadata.name}`, sample] as const))(
  "%s is applied twice, with webhooks, and changes once",
  async (_title, sample) => {
    const first = await whole.send("PATCH", sample, "force=true");
    expect([first.code, first.status?.message]).toEqual([201, undefined]);
    const again = await whole.send("PATCH", sample, "force=true");
    expect([again.code, versionOf(again.object)]).toEqual([200, versionOf(first.object)]);
    const written = await whole.send("PUT", first.object as KubeObject);
    expect([written.code, versionOf(written.object)]).toEqual([200, versionOf(first.object)]);
  },
);
