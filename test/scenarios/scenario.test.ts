// Scenarios from the command line's view: passing, failing with the command that replays, and what is wrong with a file.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "@jest/globals";
import { parse, stringify } from "yaml";
import { run } from "../../cmd/simulate.ts";
import type { Scenario } from "../../simulator/scenario/schema.ts";

const SCENARIO = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../manifests/scenarios/workers-in-place.yaml");
const LIMIT_MS = 120_000;

async function simulate(...args: string[]) {
  const out: string[] = [];
  const code = await run(args, { out: (line) => void out.push(line), error: () => {}, stop: new AbortController().signal });
  return { code, text: out.join("\n") };
}

/** A file with the sample scenario, changed. */
function changed(change: (scenario: Scenario) => unknown): string {
  const scenario = parse(readFileSync(SCENARIO, "utf8")) as Scenario;
  const files = scenario.spec.files?.map((f) => path.join(path.dirname(SCENARIO), f));
  const folder = mkdtempSync(path.join(os.tmpdir(), "scenario-"));
  const file = path.join(folder, "scenario.yaml");
  writeFileSync(file, stringify(change({ ...scenario, spec: { ...scenario.spec, ...(files ? { files } : {}) } })));
  return file;
}

describe("the sample scenario", () => {
  it(
    "passes with a lagging watch, a restart and a lost Node, and gives the same log twice",
    async () => {
      const logs = [changed((s) => s), changed((s) => s)].map((file) => [file, `${file}.log`] as const);
      for (const [file, log] of logs) {
        const { code, text } = await simulate(file, "--seed=4", `--log=${log}`, "-o", "json");
        expect(JSON.parse(text)).toMatchObject({ passed: true, seed: 4, restarts: 1, machines: { created: 0, updatedInPlace: 3 } });
        expect(code).toBe(0);
      }
      const [one, two] = logs.map(([, log]) => readFileSync(log, "utf8"));
      expect(two).toBe(one);
    },
    LIMIT_MS,
  );

  it(
    "fails with what was expected, what came, and the command that runs it again",
    async () => {
      const file = changed((s) => ({
        ...s,
        spec: { ...s.spec, faults: undefined, updater: { covers: "Nothing" }, expect: { machines: [{ updatedInPlace: { min: 3 } }] } },
      }));
      const { code, text } = await simulate(file, "--seed=2");
      expect(code).toBe(1);
      expect(text).toContain("machines.updatedInPlace of all is 0, expected at least 3");
      expect(text).toContain(`theseus simulate ${file} --seed=2`);
    },
    LIMIT_MS,
  );

  it.each([
    [
      "a field that does not exist",
      (s: Scenario) => ({ ...s, spec: { ...s.spec, faults: { watchLag: 1 } } }),
      "spec.faults.watchLag: unknown field",
    ],
    [
      "a percentage above 100",
      (s: Scenario) => ({ ...s, spec: { ...s.spec, faults: { hookErrorsPercent: 101 } } }),
      "spec.faults.hookErrorsPercent",
    ],
    ["a step without an effect", (s: Scenario) => ({ ...s, spec: { ...s.spec, steps: [{ name: "x" }] } }), "spec.steps[0] does nothing"],
    ["another kind", (s: Scenario) => ({ ...s, kind: "Story" }), "is no scenario"],
    ["a file that is not there", (s: Scenario) => ({ ...s, spec: { ...s.spec, files: ["gone.yaml"] } }), "gone.yaml cannot be read"],
    [
      "a manifest of an unknown kind",
      (s: Scenario) => ({ ...s, spec: { ...s.spec, manifests: [{ apiVersion: "v1", kind: "Pot", metadata: { name: "p" } }] } }),
      "a Pot, which a simulation does not know",
    ],
  ])("refuses %s", async (_what, change, message) => {
    await expect(simulate(changed(change))).rejects.toThrow(message);
  });

  it.each([
    [["--seeds=5..1"], "--seeds"],
    [["--seeds=1..2", "--seed=1"], "both given"],
    [["--until=0"], "--until"],
  ])("refuses %j", async (args, message) => {
    await expect(simulate(SCENARIO, ...args)).rejects.toThrow(message);
  });
});
