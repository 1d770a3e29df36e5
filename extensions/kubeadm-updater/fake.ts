// The fake mode: takes its time, changes nothing, as upstream's test extension does. For trying out controllers without machines.
// Source: spec/runtime/kubeadm-updater.md section 1.
import type { Clock } from "../../runtime/base/clock.ts";
import { type Random, randomInt } from "../../runtime/base/random.ts";
import type { Engine } from "./engine.ts";

const RETRY_SECONDS = 5;
const DURATION_MIN_MS = 15_000;
const DURATION_SPREAD_MS = 4_000;

export function createFakeEngine(clock: Clock, random: Random): Engine {
  const dueMs = new Map<string, number>();
  return {
    async update(target) {
      const key = `${target.namespace}/${target.name}`;
      const due = dueMs.get(key) ?? clock.nowMs() + DURATION_MIN_MS + randomInt(random, DURATION_SPREAD_MS + 1);
      if (clock.nowMs() < due) {
        dueMs.set(key, due);
        return { kind: "progress", seconds: RETRY_SECONDS, message: "fake update in progress" };
      }
      dueMs.delete(key);
      return { kind: "progress", seconds: 0, message: "fake update done, nothing was changed" };
    },
    activeCount: () => dueMs.size,
  };
}
