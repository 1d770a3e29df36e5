// A rotating part of the seeds suite: each day another seed and three other profiles. The whole is test/seeds/suite.ts.
import { describe, expect, it } from "@jest/globals";
import { startSimulation } from "../../simulator/real/start.ts";
import { runScenario } from "../../simulator/scenario/run.ts";
import { profiles, scenarioOf } from "./profiles.ts";

const LIMIT_MS = 300_000;
const day = Number(process.env.SEED ?? Math.floor(Date.now() / 86_400_000));
const today = [0, 3, 6].map((n) => profiles[(day + n) % profiles.length]);

describe(`seed ${day} (set SEED to run it again)`, () => {
  it.each(today.flatMap((profile) => (profile ? [[profile.name, profile] as const] : [])))(
    "comes through: %s",
    async (_name, profile) => {
      const run = await runScenario(scenarioOf(profile, day), { seed: day, start: startSimulation, readFile: () => [], replay: "" });
      expect([run.report.scenario, ...run.report.failures]).toEqual([run.report.scenario]);
    },
    LIMIT_MS,
  );
});
