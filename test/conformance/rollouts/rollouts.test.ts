// The recorded rollout figures, reproduced by `theseus simulate rollout`. How they are held against ours: README.md of this folder.
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "@jest/globals";
import { startSimulation } from "../../../simulator/real/start.ts";
import { runRollout } from "../../../simulator/rollout/run.ts";
import type { RolloutFigures, RolloutSettings } from "../../../simulator/rollout/settings.ts";

interface Fact {
  readonly mode: "InPlace" | "Replace" | "OnDelete";
  readonly replicas: number;
  readonly maxSurge: number | null;
  readonly maxUnavailable: number | null;
  readonly midFlight: { readonly scaleTo?: number; readonly changeSpecAgain?: boolean } | null;
  readonly expect: Pick<RolloutFigures, "finalReplicas" | "keptOriginalMachines" | "machinesCreated" | "peakMachines" | "minAvailable">;
}

const HERE = path.dirname(fileURLToPath(import.meta.url));
const facts = JSON.parse(readFileSync(path.join(HERE, "facts.json"), "utf8")) as readonly Fact[];
const MODES = { InPlace: "in-place", Replace: "replace", OnDelete: "on-delete" } as const;
const LIMIT_MS = 120_000;

const settingsOf = ({ mode, replicas, maxSurge, maxUnavailable, midFlight }: Fact): RolloutSettings => ({
  kind: "machinedeployment",
  mode: MODES[mode],
  replicas,
  ...(maxSurge === null ? {} : { maxSurge }),
  ...(maxUnavailable === null ? {} : { maxUnavailable }),
  ...(midFlight ? { afterwards: midFlight.scaleTo === undefined ? "change" : { scaleTo: midFlight.scaleTo } } : {}),
  seed: 1,
});

const nameOf = ({ mode, replicas, maxSurge, maxUnavailable, midFlight }: Fact): string =>
  `${mode} ${replicas}, surge ${maxSurge}, unavailable ${maxUnavailable}${midFlight ? `, then ${JSON.stringify(midFlight)}` : ""}`;

describe.each(facts.map((fact) => [nameOf(fact), fact] as const))("%s", (_name, fact) => {
  it(
    "comes to the recorded figures",
    async () => {
      const { figures } = await runRollout(settingsOf(fact), () => startSimulation({ seed: 1 }));
      const { expect: recorded, mode, replicas, midFlight } = fact;
      const counts = [replicas, midFlight?.scaleTo ?? replicas];
      const surge = fact.maxSurge ?? 0;
      expect(figures.finalReplicas).toBe(recorded.finalReplicas);
      expect(figures.peakMachines).toBeLessThanOrEqual(Math.max(...counts) + surge);
      expect(figures.minAvailable).toBeGreaterThanOrEqual(Math.max(Math.min(...counts) - (fact.maxUnavailable ?? 1), 0));
      if (midFlight) return;
      const { keptOriginalMachines, machinesCreated } = recorded;
      expect(figures).toMatchObject({ keptOriginalMachines, machinesCreated });
      if (mode === "InPlace") expect(figures.peakMachines).toBe(recorded.peakMachines);
    },
    LIMIT_MS,
  );
});
