// How fast simulated machines are when a person watches: slow enough to see each step, quick enough not to wait.
import type { Paces } from "../../extensions/kubeadm-updater/engine.ts";
import type { HostTimings } from "../host/exec.ts";

export const DEVELOPMENT_TIMINGS: HostTimings = {
  commandMs: ([first = "", ...rest]) => {
    const line = [first.split("/").at(-1), ...rest].join(" ");
    if (line.startsWith("kubeadm config images pull")) return 400;
    if (line.startsWith("kubeadm upgrade node phase control-plane")) return 500;
    if (line.startsWith("stage-binaries") || line.startsWith("etcdctl")) return 200;
    if (line.startsWith("systemctl")) return 50;
    return 15;
  },
  nodeReadyMs: 500,
};

export const DEVELOPMENT_PACES: Paces = { short: 1, long: 1, outside: 2 };

const PATIENCE_MS = 1_000;

/** Lets a call wait a moment for what it started, so that short updates need one call. */
export async function withinReason(settled: Promise<void>): Promise<void> {
  const limit = Promise.withResolvers<void>();
  const timer = setTimeout(limit.resolve, PATIENCE_MS);
  await Promise.race([settled, limit.promise]);
  clearTimeout(timer);
}
