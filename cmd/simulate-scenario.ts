// `theseus simulate SCENARIO.yaml`: flags, files, seeds and printing. Not here: what a scenario is and does (simulator/scenario).
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../api/meta/object.ts";
import { startSimulation } from "../simulator/real/start.ts";
import { readScenario, ScenarioError } from "../simulator/scenario/read.ts";
import { reportLines } from "../simulator/scenario/report.ts";
import { runScenario, type ScenarioRun } from "../simulator/scenario/run.ts";
import type { Scenario } from "../simulator/scenario/schema.ts";
import { FlagError, type Flags, flagHelp, type FlagTable, readFlags } from "./flags.ts";
import type { Io } from "./io.ts";
import { shortOutput } from "./output.ts";

const FLAGS: FlagTable = {
  seed: { type: "string", value: "N", help: "order of what has no order of its own (default 1)" },
  seeds: { type: "string", value: "A..B", help: "runs once with each of these seeds" },
  until: { type: "string", value: "SECONDS", help: "virtual time that is waited for the end at most (default 21600)" },
  log: { type: "string", value: "FILE", help: "writes every write and hook call there, one line each" },
  output: { type: "string", value: "text|json", default: "text", help: "also -o" },
};

export const scenarioHelp = `usage: theseus simulate SCENARIO.yaml FLAGS

Runs a scenario against the real controllers on virtual time, and says whether what it expects came true. Exit code 1 when not.
What a scenario can hold: docs/simulate.md

${flagHelp(FLAGS)}

Example:
  theseus simulate manifests/scenarios/workers-in-place.yaml --seeds=1..20`;

export async function simulateScenario(args: readonly string[], io: Io): Promise<number> {
  const flags = readFlags("simulate", FLAGS, shortOutput(args), 1);
  const [file] = flags.positionals;
  if (file === undefined)
    throw new FlagError("nothing to simulate", "name a scenario's file, or `rollout`; `theseus help simulate` shows how");
  const seeds = seedsOf(flags);
  const json = flags.choice("output", ["text", "json"]) === "json";
  const untilSeconds = flags.whole("until", 1, 31_536_000);
  const scenario = scenarioIn(file);
  const runs: ScenarioRun[] = [];
  for (const seed of seeds) {
    if (io.stop.aborted) break;
    const run = await runOne(scenario, { file, seed, untilSeconds });
    runs.push(run);
    if (!json) print(run, seeds.length === 1, io);
  }
  const log = flags.text("log");
  if (log !== undefined)
    writeFileSync(log, `${runs.flatMap((r) => (seeds.length === 1 ? r.log : [`## seed ${r.report.seed}`, ...r.log])).join("\n")}\n`);
  if (json) io.out(JSON.stringify(seeds.length === 1 ? runs[0]?.report : runs.map((r) => r.report), null, 2));
  const failed = runs.filter((r) => !r.report.passed).length;
  if (!json && seeds.length > 1) io.out(`${runs.length - failed} passed, ${failed} failed`);
  return failed > 0 || io.stop.aborted ? 1 : 0;
}

/** One run is told as a story; of many only those that fail are told. */
function print({ report, story }: ScenarioRun, alone: boolean, io: Io): void {
  if (!alone && report.passed) return;
  for (const line of reportLines(report, alone ? story : [])) io.out(line);
}

const SEED_MAX = 2 ** 32 - 1;
const SEEDS_MAX = 100_000;

function seedsOf(flags: Flags): readonly number[] {
  const text = flags.text("seeds");
  const one = flags.whole("seed", 0, SEED_MAX);
  if (text === undefined) return [one ?? 1];
  if (one !== undefined) throw new FlagError("--seed and --seeds are both given", "leave one of them out");
  const [, from, to] = /^(\d{1,10})\.\.(\d{1,10})$/.exec(text) ?? [];
  const [first, last] = [Number(from), Number(to)];
  if (from === undefined || last < first || last > SEED_MAX || last - first >= SEEDS_MAX)
    throw new FlagError(`--seeds is ${JSON.stringify(text)}`, `give two whole numbers such as 1..20, at most ${SEEDS_MAX} apart`);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

interface One {
  readonly file: string;
  readonly seed: number;
  readonly untilSeconds?: number;
}

const runOne = (scenario: Scenario, { file, seed, untilSeconds }: One): Promise<ScenarioRun> =>
  runScenario(scenario, {
    seed,
    ...(untilSeconds === undefined ? {} : { untilSeconds }),
    start: startSimulation,
    readFile: (name) => documentsOf(path.resolve(path.dirname(file), name)) as readonly KubeObject[],
    replay: `theseus simulate ${file} --seed=${seed}${untilSeconds === undefined ? "" : ` --until=${untilSeconds}`}`,
  });

function scenarioIn(file: string): Scenario {
  const documents = documentsOf(file);
  if (documents.length !== 1) throw new ScenarioError(`${file} holds ${documents.length} documents`, "a scenario is one document");
  return readScenario(documents[0], file);
}

function documentsOf(file: string): readonly unknown[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (e) {
    throw new ScenarioError(`${file} cannot be read: ${(e as { code?: string }).code ?? String(e)}`, "name an existing file");
  }
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error) throw new ScenarioError(`${file} is no YAML: ${error.message.split("\n")[0]}`, "mend it");
    const value: unknown = document.toJS();
    return value === null ? [] : [value];
  });
}
