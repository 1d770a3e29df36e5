// `theseus simulate rollout`: what settings do to machines, on virtual time. Here: flags and printing.
// Not here: the course of a rollout (simulator/rollout). Source: design/architecture.md section 5.
import type { IntOrString } from "../api/meta/object.ts";
import { startSimulation } from "../simulator/real/start.ts";
import { runRollout } from "../simulator/rollout/run.ts";
import { ROLLOUT_KINDS, ROLLOUT_MODES, type RolloutFigures, type RolloutSettings } from "../simulator/rollout/settings.ts";
import { FlagError, type Flags, flagHelp, type FlagTable, readFlags } from "./flags.ts";
import type { Io } from "./io.ts";
import { shortOutput } from "./output.ts";

const FLAGS: FlagTable = {
  kind: { type: "string", value: "KIND", default: "machinedeployment", help: ROLLOUT_KINDS.join(" or ") },
  mode: {
    type: "string",
    value: "MODE",
    default: "in-place",
    help: "in-place: the updater can make the change; replace: it cannot; on-delete: the user deletes old machines",
  },
  replicas: { type: "string", value: "N", default: "3", help: "machines" },
  "max-surge": { type: "string", value: "N|N%", help: "machines above replicas at most (default 1)" },
  "max-unavailable": {
    type: "string",
    value: "N|N%",
    help: "machines that may be unavailable (default 0; on-delete: deleted at a time, 1)",
  },
  // biome-ignore lint/suspicious/noThenProperty: the name of a flag
  then: { type: "string", value: "scale=N|change", help: "what the user does as soon as the first machine is affected" },
  seed: { type: "string", value: "N", default: "1", help: "order of what has no order of its own" },
  output: { type: "string", value: "text|json", default: "text", help: "also -o" },
};

export const rolloutHelp = `usage: theseus simulate rollout FLAGS

Tells what settings do to machines when their template changes: the real controllers against simulated machines, on virtual time.

${flagHelp(FLAGS)}

Example:
  theseus simulate rollout --replicas=6 --max-surge=1 --max-unavailable=0`;

export async function simulateRollout(args: readonly string[], io: Io): Promise<number> {
  const flags = readFlags("simulate", FLAGS, shortOutput(args));
  const settings = settingsOf(flags);
  const output = flags.choice("output", ["text", "json"]) ?? "text";
  const { figures, lines } = await runRollout(settings, () => startSimulation({ seed: settings.seed })).catch((e: unknown) => {
    const { code, message, hint } = e as { code?: string; message: string; hint?: string };
    throw code === "RolloutSettingsError" ? new FlagError(message, hint ?? "") : e;
  });
  if (output === "json") io.out(JSON.stringify(figures, null, 2));
  else for (const line of [...lines, "", ...figureLines(figures)]) io.out(line);
  return 0;
}

function settingsOf(flags: Flags): RolloutSettings {
  const then = flags.text("then");
  return {
    kind: flags.choice("kind", ROLLOUT_KINDS) ?? "machinedeployment",
    mode: flags.choice("mode", ROLLOUT_MODES) ?? "in-place",
    replicas: flags.whole("replicas", 1, 1_000) ?? 3,
    ...limit(flags, "max-surge", "maxSurge"),
    ...limit(flags, "max-unavailable", "maxUnavailable"),
    ...(then === undefined ? {} : { afterwards: thenOf(then) }),
    seed: flags.whole("seed", 0, 2 ** 32 - 1) ?? 1,
  };
}

function limit(flags: Flags, flag: string, field: string): Readonly<Record<string, IntOrString>> {
  const text = flags.text(flag);
  if (text === undefined) return {};
  if (!/^\d{1,4}%?$/.test(text))
    throw new FlagError(`--${flag} is ${JSON.stringify(text)}`, "give a number such as 1, or a percentage such as 25%");
  return { [field]: text.endsWith("%") ? text : Number(text) };
}

function thenOf(text: string): NonNullable<RolloutSettings["afterwards"]> {
  if (text === "change") return "change";
  const scale = /^scale=(\d{1,4})$/.exec(text);
  if (!scale) throw new FlagError(`--then is ${JSON.stringify(text)}`, "give scale=N or change");
  return { scaleTo: Number(scale[1]) };
}

const FIGURES: Readonly<Record<keyof RolloutFigures, string>> = {
  finalReplicas: "machines at the end",
  keptOriginalMachines: "of them there from the start",
  machinesCreated: "created",
  machinesDeleted: "deleted",
  updatedInPlace: "updated in place",
  peakMachines: "most at a time",
  minAvailable: "fewest available",
  virtualSeconds: "seconds from the change to the end",
};
const figureLines = (figures: RolloutFigures): readonly string[] =>
  Object.entries(FIGURES).map(([key, text]) => `${String(figures[key as keyof RolloutFigures]).padStart(8)}  ${text}`);
