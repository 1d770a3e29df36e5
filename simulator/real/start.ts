// A simulation with its defaults: one call for users of the package. Here: which gates, keys and pace it starts with.
// Not here: the world on virtual time (../virtual.ts).
import { developmentFeatureGates, parseFeatureGates } from "../../api/feature-gates.ts";
import { fixedGates } from "../../runtime/feature-gates.ts";
import { type HostTimings, REALISTIC } from "../host/exec.ts";
import { startVirtual, type Virtual, type VirtualOptions } from "../virtual.ts";
import { simulationPki } from "./pki.ts";
import { macrotask } from "./turn.ts";

export interface SimulationOptions {
  /** Order of everything that has no order of its own; the same seed gives the same run. */
  readonly seed: number;
  /** As `--feature-gates`: `InPlaceUpdates=false,...` over those of `theseus dev`. */
  readonly featureGates?: string;
  /** How long commands on simulated machines take. Default: as on real ones. */
  readonly timings?: HostTimings;
  /** Stands between the controllers and the updater: faults, an extension of one's own. */
  readonly hooks?: VirtualOptions["hooks"];
  readonly between?: VirtualOptions["between"];
  readonly afterStep?: VirtualOptions["afterStep"];
}

/** API server, controllers, simulated machines and the kubeadm updater in this process, on virtual time from 2026-01-01. Call stop() at the end.
 *  @throws FeatureGateError */
export const startSimulation = ({ featureGates = "", timings = REALISTIC, ...more }: SimulationOptions): Promise<Virtual> =>
  startVirtual({
    ...more,
    gates: fixedGates(parseFeatureGates(featureGates, developmentFeatureGates)),
    turn: macrotask,
    pki: simulationPki,
    timings,
  });
