// What goes wrong in a simulation: late or broken watches, hook calls that fail, controllers that die after the n-th write.
// Here: the switches and the wrappers that obey them. Not here: when they are thrown (scenario/), watches (watches.ts).
import type { ApiRequest, Transport } from "../../api/meta/transport.ts";
import type { HookTransport } from "../../hooks/transport.ts";
import type { Random } from "../../runtime/base/random.ts";
import type { VirtualClock } from "../../runtime/base/virtual-clock.ts";
import { breakingWatches, laggingWatches } from "./watches.ts";

/** Everything zero = nothing goes wrong. */
export interface FaultSettings {
  /** Longest delay of a watch event. */
  watchLagMilliseconds: number;
  /** Chance of each watch event to break its watch, in percent; what was on its way is lost. */
  droppedWatchesPercent: number;
  /** Chance of each hook call to fail before it reaches the extension, in percent. */
  hookErrorsPercent: number;
  /** Chance of each write to fail with 500 before it is made, in percent. */
  writeErrorsPercent: number;
  /** The controllers' process dies with the n-th write from now on; 0 = never. */
  restartAfterWrites: number;
}

export const NO_FAULTS: Readonly<FaultSettings> = {
  watchLagMilliseconds: 0,
  droppedWatchesPercent: 0,
  hookErrorsPercent: 0,
  writeErrorsPercent: 0,
  restartAfterWrites: 0,
};

export interface Faults {
  readonly settings: FaultSettings;
  /** How many restarts there were. */
  readonly restarts: number;
  breakWatches(): void;
  restartNow(): void;
  /** For VirtualOptions. */
  readonly between: (transport: Transport, clock: VirtualClock) => Transport;
  readonly hooks: (extension: HookTransport) => HookTransport;
  readonly takeRestart: () => "restart" | undefined;
}

const isWrite = ({ method }: ApiRequest): boolean => method !== "GET" && method !== "HEAD";

export function createFaults(random: Random, initial: Partial<FaultSettings> = {}): Faults {
  const settings: FaultSettings = { ...NO_FAULTS, ...initial };
  const hits = (percent: number): boolean => percent > 0 && random.next() * 100 < percent;
  let dead = false;
  let restarts = 0;
  let breakWatches = (): void => {};

  /** One process: nothing of it gets through once it is dead. */
  const process = (transport: Transport): Transport => {
    let alive = true;
    return async (request) => {
      if (!alive) throw new Error("the process was killed");
      if (isWrite(request) && hits(settings.writeErrorsPercent)) return refused(request);
      const last = isWrite(request) && settings.restartAfterWrites > 0 && --settings.restartAfterWrites === 0;
      const response = await transport(request);
      if (!last) return response;
      alive = false;
      dead = true;
      throw new Error("the process was killed");
    };
  };

  return {
    settings,
    get restarts() {
      return restarts;
    },
    breakWatches: () => breakWatches(),
    restartNow: () => {
      dead = true;
    },
    between: (transport, clock) => {
      const lagging = laggingWatches(process(transport), { clock, random, lagMs: () => settings.watchLagMilliseconds });
      const breaking = breakingWatches(lagging, random, () => settings.droppedWatchesPercent / 100);
      breakWatches = breaking.breakAll;
      return breaking.transport;
    },
    hooks: (extension) => async (call) => {
      if (hits(settings.hookErrorsPercent)) throw new Error("connect ECONNREFUSED: the extension is not reachable for a moment");
      return extension(call);
    },
    takeRestart: () => {
      if (!dead) return undefined;
      dead = false;
      restarts++;
      return "restart";
    },
  };
}

const refused = ({ path }: ApiRequest) => ({
  kind: "object" as const,
  status: 500,
  headers: { "content-type": "application/json" },
  object: {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `Internal error occurred: the write of ${path} failed`,
    reason: "InternalError",
    code: 500,
  },
});
