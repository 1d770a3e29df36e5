// Flags that `dev` and `manager` share: gates, which controllers run, how many at once, logs, health. Here: the table and its reading.
import { defaultFeatureGates, developmentFeatureGates, featureGateNames, featureGates, parseFeatureGates } from "../api/feature-gates.ts";
import { type FeatureGates, fixedGates } from "../runtime/feature-gates.ts";
import { createLogger } from "../runtime/real/logger.ts";
import type { Logger } from "../runtime/base/log.ts";
import { closest, FlagError, type Flags, type FlagTable } from "./flags.ts";

/** Controllers by name; those of simulated infrastructure run only when they are named. */
export const CONTROLLERS = [
  "cluster",
  "clusterclass",
  "extensionconfig",
  "kubeadmconfig",
  "kubeadmcontrolplane",
  "machine",
  "machinedeployment",
  "machinehealthcheck",
  "machineset",
  "topology",
  "topologymachinedeployment",
  "topologymachineset",
] as const;
export const SIMULATED_CONTROLLERS = ["devcluster", "devmachine"] as const;

export const gateHelp = (defaults: Readonly<Record<string, boolean>>): string =>
  featureGateNames
    .map(
      (name) =>
        `    ${name}=true|false (${featureGates[name].stage}, default ${defaults[name]}${featureGates[name].needs ? `, needs ${featureGates[name].needs.join(", ")}` : ""}): ${featureGates[name].what}`,
    )
    .join("\n");

const concurrency: FlagTable = Object.fromEntries(
  [...CONTROLLERS, ...SIMULATED_CONTROLLERS].map((name) => [
    `${name}-concurrency`,
    { type: "string", value: "N", default: "10", help: `objects that the ${name} controller works on at once` },
  ]),
);

export const CONTROLLER_FLAGS: FlagTable = {
  "feature-gates": { type: "string", value: "GATE=true,...", help: "switches features on or off; the gates are listed below" },
  controllers: {
    type: "string",
    value: "LIST",
    default: "*",
    help: "which run: names, * for all but simulated infrastructure, -NAME to leave one out",
  },
  namespace: { type: "string", value: "NAME", help: "only objects of this namespace" },
  "watch-filter": { type: "string", value: "VALUE", help: "only objects with the label cluster.x-k8s.io/watch-filter=VALUE" },
  "health-addr": { type: "string", value: "HOST:PORT", help: "address of /healthz and /readyz; empty = none" },
  "diagnostics-address": { type: "string", value: "HOST:PORT", help: "address of /metrics; empty = none" },
  v: { type: "string", value: "N", default: "0", help: "verbosity of logs; 4 and more for developers" },
  "log-format": { type: "string", value: "text|json", default: "text", help: "form of log lines" },
  ...concurrency,
};

export interface ControllerSettings {
  readonly gates: FeatureGates;
  readonly names: readonly string[];
  readonly namespace?: string;
  readonly watchFilter?: string;
  readonly healthAddress?: string;
  readonly diagnosticsAddress?: string;
  readonly log: Logger;
  readonly concurrency: Readonly<Record<string, number>>;
}

/** Kubernetes' list syntax. @throws FlagError */
export function selectControllers(list: string, named: readonly string[] = [...CONTROLLERS, ...SIMULATED_CONTROLLERS]): readonly string[] {
  const items = list
    .split(",")
    .map((i) => i.trim())
    .filter((i) => i !== "");
  for (const item of items) {
    const name = item.replace(/^-/, "");
    if (name === "*" || named.includes(name)) continue;
    const guess = closest(name, named);
    throw new FlagError(`--controllers names ${JSON.stringify(name)}`, guess ? `did you mean ${guess}?` : `known are ${named.join(", ")}`);
  }
  const all = items.includes("*") ? CONTROLLERS : [];
  const chosen = new Set([...all, ...items.filter((i) => i !== "*" && !i.startsWith("-"))]);
  for (const item of items) if (item.startsWith("-")) chosen.delete(item.slice(1));
  if (chosen.size === 0) throw new FlagError(`--controllers=${list} leaves no controller`, "name one, or * for all");
  return [...chosen].sort();
}

/** @throws FlagError, FeatureGateError */
export function controllerSettings(flags: Flags, development: boolean): ControllerSettings {
  const base = development ? developmentFeatureGates : defaultFeatureGates;
  const names = selectControllers(flags.text("controllers") ?? "*");
  return {
    gates: fixedGates(parseFeatureGates(flags.text("feature-gates") ?? "", base)),
    names,
    ...(flags.text("namespace") ? { namespace: flags.text("namespace") } : {}),
    ...(flags.text("watch-filter") ? { watchFilter: flags.text("watch-filter") } : {}),
    ...(flags.text("health-addr") ? { healthAddress: flags.text("health-addr") } : {}),
    ...(flags.text("diagnostics-address") ? { diagnosticsAddress: flags.text("diagnostics-address") } : {}),
    log: createLogger({ format: flags.choice("log-format", ["text", "json"]) ?? "text", verbosity: flags.whole("v", 0, 10) ?? 0 }),
    concurrency: Object.fromEntries(
      [...CONTROLLERS, ...SIMULATED_CONTROLLERS].map((name) => [name, flags.whole(`${name}-concurrency`, 1, 1000) ?? 10]),
    ),
  };
}
