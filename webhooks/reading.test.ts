// Reading what rules ask for: waits a little for a class that is on its way, and no longer. On virtual time.
import { describe, expect, it } from "@jest/globals";
import { clusterClassResource } from "../api/clusterclass.ts";
import type { KubeObject } from "../api/meta/object.ts";
import { VirtualClock } from "../runtime/base/virtual-clock.ts";
import { type ObjectReader, readAll } from "./reading.ts";
import { type ObjectRead, Unreadable } from "./rule-set.ts";

const key = { namespace: "lab", name: "fleet" };
const plain: ObjectRead = { resource: clusterClassResource, key };
const patient: ObjectRead = { ...plain, suffices: (found) => found?.metadata.generation === 2 };
const aClass = (generation: number): KubeObject => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "ClusterClass",
  metadata: { ...key, generation },
});

/** Runs virtual time until a promise has settled. */
async function settled<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let done = false;
  const outcome = promise.finally(() => {
    done = true;
  });
  while (!done) {
    for (let i = 0; i < 20; i++) await Promise.resolve();
    if (!done && !clock.runNext()) break;
  }
  return outcome;
}

function readerOf(answers: readonly (KubeObject | undefined | Error)[]) {
  let asked = 0;
  const reader: ObjectReader = {
    async get() {
      const answer = answers[Math.min(asked++, answers.length - 1)];
      if (answer instanceof Error) throw answer;
      return answer;
    },
    list: async () => [aClass(1), aClass(2)],
  };
  return { reader, asked: () => asked };
}

describe("reading for rules", () => {
  it.each([
    ["what needs no waiting is asked once", plain, [undefined], 0, undefined],
    ["an object that will do is taken at once", patient, [aClass(2)], 0, 2],
    ["one that is on its way is waited for", patient, [undefined, aClass(1), aClass(2)], 400, 2],
    ["two seconds at most; then what there is", patient, [aClass(1)], 2000, 1],
    ["absent after two seconds", patient, [undefined], 2000, undefined],
    ["a failure may pass", patient, [new Error("down"), aClass(2)], 200, 2],
  ] as const)("%s", async (_what, read, answers, wantedMs, generation) => {
    const clock = new VirtualClock(0);
    const { reader } = readerOf(answers);
    const { found } = await settled(clock, readAll(reader, [read], clock));
    expect([clock.nowMs(), found(read)?.metadata.generation]).toEqual([wantedMs, generation]);
  });

  it("tells a failure where it is looked at", async () => {
    const clock = new VirtualClock(0);
    const findings = await settled(clock, readAll(readerOf([new Error("down")]).reader, [plain], clock));
    expect(() => findings.found(plain)).toThrow(Unreadable);
    expect(() => findings.found(plain)).toThrow("ClusterClass cannot be read: down");
  });

  it("lists", async () => {
    const clock = new VirtualClock(0);
    const read = { resource: clusterClassResource, labels: { a: "b" } };
    const { listed } = await readAll(readerOf([undefined]).reader, [read], clock);
    expect(listed(read).map((o) => o.metadata.generation)).toEqual([1, 2]);
  });
});
