// Seeds times fault profiles: `node test/seeds/suite.ts --seeds 1..50 [--profile NAME] [--log DIR]`. Prints what fails and how to see it again;
// last comes `N passed, N failed`. Here: the loop. Not here: what is run (profiles.ts), how (simulator/scenario).
import { writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { startSimulation } from "../../simulator/real/start.ts";
import { reportLines } from "../../simulator/scenario/report.ts";
import { runScenario } from "../../simulator/scenario/run.ts";
import { type Profile, profiles, scenarioOf } from "./profiles.ts";

const { values } = parseArgs({
  options: { seeds: { type: "string", default: "1..3" }, profile: { type: "string" }, log: { type: "string" } },
});
const [, from = "", to = ""] = /^(\d+)\.\.(\d+)$/.exec(values.seeds) ?? [];
const chosen = profiles.filter(({ name }) => values.profile === undefined || name === values.profile);
if (from === "" || Number(to) < Number(from) || chosen.length === 0) {
  process.stderr.write(`--seeds takes A..B; --profile one of ${profiles.map((p) => p.name).join(", ")}\n`);
  process.exit(64);
}

async function passes(profile: Profile, seed: number): Promise<boolean> {
  const replay = `node test/seeds/suite.ts --seeds ${seed}..${seed} --profile ${JSON.stringify(profile.name)} --log DIR`;
  const { report, story, log } = await runScenario(scenarioOf(profile, seed), { seed, start: startSimulation, readFile: () => [], replay });
  if (values.log !== undefined)
    writeFileSync(path.join(values.log, `${seed}-${profile.name.replaceAll(" ", "-")}.log`), `${log.join("\n")}\n`);
  if (!report.passed) process.stdout.write(`${reportLines(report, values.log === undefined ? [] : story).join("\n")}\n`);
  return report.passed;
}

let passed = 0;
let failed = 0;
for (let seed = Number(from); seed <= Number(to); seed++) {
  for (const profile of chosen) {
    const good = await passes(profile, seed).catch((e: unknown) => {
      process.stdout.write(`${profile.name}, seed ${seed}: ${e instanceof Error ? (e.stack ?? e.message) : String(e)}\n`);
      return false;
    });
    if (good) passed++;
    else failed++;
  }
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exit(failed > 0 ? 1 : 0);
