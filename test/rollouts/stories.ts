// Rollouts told Machine by Machine: `node test/rollouts/stories.ts [FROM..TO]` prints them. Here: which ones.
// Not here: their golden copy (stories.test.ts), how one is run (simulator/rollout).
import { fileURLToPath } from "node:url";
import { startSimulation } from "../../simulator/real/start.ts";
import { runRollout } from "../../simulator/rollout/run.ts";
import type { RolloutSettings } from "../../simulator/rollout/settings.ts";

type Row = readonly [
  mode: RolloutSettings["mode"],
  replicas: number,
  surge?: number | string,
  unavailable?: number | string,
  then?: string,
];

const WORKERS: readonly Row[] = [
  ["in-place", 1, 0, 1],
  ["in-place", 1, 1, 0],
  ["in-place", 3, 0, 1],
  ["in-place", 3, 1, 0],
  ["in-place", 3, 1, 1],
  ["in-place", 3, 0, 3],
  ["in-place", 4, "25%", "25%"],
  ["in-place", 6, 3, 1],
  ["in-place", 6, 2, 0],
  ["in-place", 3, 0, 1, "change"],
  ["in-place", 3, 1, 0, "change"],
  ["in-place", 6, 0, 2, "change"],
  ["in-place", 3, 0, 1, "scale=5"],
  ["in-place", 3, 1, 0, "scale=5"],
  ["in-place", 6, 3, 1, "scale=3"],
  ["in-place", 4, 0, 2, "scale=1"],
  ["replace", 1, 1, 0],
  ["replace", 3, 0, 1],
  ["replace", 3, 1, 0],
  ["replace", 3, 1, 1],
  ["replace", 6, 3, 1],
  ["replace", 4, "25%", "25%"],
  ["replace", 3, 1, 0, "change"],
  ["replace", 6, 3, 1, "change"],
  ["replace", 3, 1, 0, "scale=5"],
  ["replace", 6, 0, 2, "scale=3"],
  ["on-delete", 3, undefined, 1],
  ["on-delete", 3, undefined, 2],
  ["on-delete", 4, undefined, 1, "scale=6"],
];
const CONTROL_PLANE: readonly Row[] = [
  ["in-place", 3, 0],
  ["in-place", 3, 1],
  ["in-place", 1, 1],
  ["in-place", 3, 0, undefined, "change"],
  ["replace", 3, 0],
  ["replace", 3, 1],
];

const settingsOf =
  (kind: RolloutSettings["kind"]) =>
  ([mode, replicas, maxSurge, maxUnavailable, then]: Row): RolloutSettings => ({
    kind,
    mode,
    replicas,
    ...(maxSurge === undefined ? {} : { maxSurge }),
    ...(maxUnavailable === undefined ? {} : { maxUnavailable }),
    ...(then === undefined ? {} : { afterwards: then === "change" ? "change" : { scaleTo: Number(then.split("=")[1]) } }),
    seed: 1,
  });

export const rollouts: readonly RolloutSettings[] = [
  ...WORKERS.map(settingsOf("machinedeployment")),
  ...CONTROL_PLANE.map(settingsOf("kubeadmcontrolplane")),
];

export function titleOf({ kind, mode, replicas, maxSurge, maxUnavailable, afterwards }: RolloutSettings): string {
  const limits = [
    ...(maxSurge === undefined ? [] : [`surge ${maxSurge}`]),
    ...(maxUnavailable === undefined ? [] : [`unavailable ${maxUnavailable}`]),
  ];
  const then = afterwards === undefined ? "" : `, then ${afterwards === "change" ? "another change" : `${afterwards.scaleTo} replicas`}`;
  return `${kind} ${mode}, ${replicas} replicas, ${limits.join(", ")}${then}`;
}

/** Title, story, figures. */
export async function tellRollout(settings: RolloutSettings): Promise<readonly string[]> {
  const { lines, figures } = await runRollout(settings, () => startSimulation({ seed: settings.seed }));
  return [
    `# ${titleOf(settings)}`,
    ...lines,
    `  ${Object.entries(figures)
      .map(([name, n]) => `${name} ${n}`)
      .join(", ")}`,
    "",
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [from = 0, to = rollouts.length - 1] = (process.argv[2] ?? "").split("..").flatMap((n) => (n === "" ? [] : [Number(n)]));
  for (const settings of rollouts.slice(from, to + 1)) process.stdout.write(`${(await tellRollout(settings)).join("\n")}\n`);
  process.exit(0);
}
