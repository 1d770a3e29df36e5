// One run of a scenario under one seed. Here: the course: what there is, steps, the end, quiet, the verdict.
// Not here: what steps do (steps.ts), bounds (invariants.ts), the world (../virtual.ts).
import type { Condition, KubeObject } from "../../api/meta/object.ts";
import type { Transport } from "../../api/meta/transport.ts";
import { kindOf } from "../../api/index.ts";
import { seededRandom } from "../../runtime/base/random.ts";
import type { Client } from "../../runtime/client.ts";
import { createFaults, NO_FAULTS } from "../faults/faults.ts";
import { type HostTimings, INSTANT, REALISTIC } from "../host/exec.ts";
import type { Virtual, VirtualOptions } from "../virtual.ts";
import { adminClient } from "../world.ts";
import { unmet } from "./expectations.ts";
import { followOwners, type Owners } from "./owners.ts";
import type { ScenarioReport } from "./report.ts";
import type { Scenario, ScenarioSpec } from "./schema.ts";
import type { Running } from "./running.ts";
import { applyAll, runStep } from "./steps.ts";
import { behaving } from "./updater.ts";

export interface StartOptions extends Pick<VirtualOptions, "seed" | "hooks" | "between" | "afterStep" | "timings"> {
  readonly featureGates: string;
}

export interface ScenarioOptions {
  readonly seed: number;
  /** Virtual time after which nothing more is waited for. */
  readonly untilSeconds?: number;
  readonly start: (options: StartOptions) => Promise<Virtual>;
  /** Objects of a file named in the scenario. */
  readonly readFile: (name: string) => readonly KubeObject[];
  /** The command that runs the same again. */
  readonly replay: string;
}

export interface ScenarioRun {
  readonly report: ScenarioReport;
  readonly story: readonly string[];
  /** Every write and hook call. */
  readonly log: readonly string[];
}

const UNTIL_SECONDS = 6 * 3_600;
const SETTLE_MS = 120_000;
const QUIET_MS = 600_000;
/** Kinds that nobody writes when nothing changes. */
const QUIET_RESOURCES = ["kubeadmconfigs", "kubeadmcontrolplanes", "machinedeployments", "machines", "machinesets"];
const FAILURES_MAX = 20;

export async function runScenario(scenario: Scenario, options: ScenarioOptions): Promise<ScenarioRun> {
  const { spec } = scenario;
  const failures = new Set<string>();
  const writes = new Map<string, number>();
  const faults = createFaults(seededRandom(options.seed ^ 0x2545f491));
  const lost = new Set<string>();
  const story: string[] = [];
  let owners: Owners | undefined;
  let virtual: Virtual | undefined;
  let begunMs = 0;
  const say = (text: string): void => {
    if (virtual && begunMs > 0) story.push(`${((virtual.clock.nowMs() - begunMs) / 1_000).toFixed(1).padStart(8)} s  ${text}`);
  };
  const fail = (text: string): void => {
    if (failures.has(text) || failures.size >= FAILURES_MAX) return;
    failures.add(text);
    say(`FAILED: ${text}`);
  };

  virtual = await options.start({
    seed: options.seed,
    featureGates: Object.entries(spec.featureGates ?? {})
      .map(([gate, on]) => `${gate}=${on}`)
      .join(","),
    timings: timingsOf(spec),
    hooks: (next) => faults.hooks(behaving(next, spec.updater, () => virtual?.clock ?? { nowMs: () => 0 })),
    between: (transport, clock) => faults.between(counting(transport, writes), clock),
    afterStep: () => {
      for (const broken of owners?.check(lost) ?? []) fail(broken);
      return faults.takeRestart();
    },
  });
  try {
    const user = adminClient(virtual.server, "kubectl");
    owners = await followOwners(user, (news, machine, tally) => {
      if (news === "available") lost.delete(machine.name);
      say(`${`${machine.name}: ${news}`.padEnd(58)} ${tally.present} machines, ${tally.available} available`);
    });
    const endMs = (): number => (begunMs || (virtual?.clock.nowMs() ?? 0)) + (options.untilSeconds ?? UNTIL_SECONDS) * 1_000;
    const running: Running = {
      spec,
      virtual,
      user,
      faults,
      owners,
      lost,
      readFile: options.readFile,
      say,
      leftMs: () => Math.max(endMs() - (virtual?.clock.nowMs() ?? 0), 0),
    };
    await prepare(running);
    begunMs = virtual.clock.nowMs();
    owners.begin();
    writes.clear();
    Object.assign(faults.settings, spec.faults ?? {});
    await course(running, fail);
    const virtualSeconds = Math.round((virtual.clock.nowMs() - begunMs) / 100) / 10;
    say("the end");
    const counted = Object.fromEntries([...writes].sort(([a], [b]) => (a < b ? -1 : 1)));
    const figures = owners.figures();
    if (spec.expect?.converged !== false && failures.size === 0) await quiet(running, writes, fail);
    const conditions = await conditionsAt(user, spec);
    for (const text of unmet(spec.expect, { virtualSeconds, figures, conditionOf: (...key) => conditions.get(key.join("/")) })) fail(text);
    const { all, ...byOwner } = Object.fromEntries(figures);
    if (!all) throw new Error("figures of all Machines are always there");
    return {
      story,
      log: virtual.log.lines,
      report: {
        scenario: scenario.metadata?.name ?? "scenario",
        seed: options.seed,
        passed: failures.size === 0,
        failures: [...failures],
        machines: all,
        owners: byOwner,
        virtualSeconds,
        writes: counted,
        restarts: faults.restarts,
        ...(failures.size === 0 ? {} : { replay: options.replay }),
      },
    };
  } finally {
    owners?.stop();
    virtual.stop();
  }
}

function timingsOf({ timings }: ScenarioSpec): HostTimings {
  const base = timings?.commands === "Instant" ? INSTANT : REALISTIC;
  return timings?.nodeReadySeconds === undefined ? base : { ...base, nodeReadyMs: timings.nodeReadySeconds * 1_000 };
}

const counting =
  (transport: Transport, writes: Map<string, number>): Transport =>
  async (request) => {
    const response = await transport(request);
    if (request.method !== "GET" && response.status < 300) {
      const parts = request.path.split("/").filter((p) => p !== "");
      const at = parts.indexOf("namespaces");
      const resource = (at >= 0 ? parts[at + 2] : undefined) ?? parts[parts[0] === "api" ? 2 : 3] ?? "";
      writes.set(resource, (writes.get(resource) ?? 0) + 1);
    }
    return response;
  };

async function prepare(running: Running): Promise<void> {
  const { spec, readFile, user, virtual, owners } = running;
  await applyAll(user, [...(spec.files ?? []).flatMap((name) => readFile(name)), ...(spec.manifests ?? [])] as readonly KubeObject[]);
  await virtual.until("the manifests to be up", () => owners.converged(), running.leftMs());
}

/** Steps, then the end. A step that never comes is a failure, and the rest is left out. */
async function course(running: Running, fail: (text: string) => void): Promise<void> {
  const { spec, virtual, owners } = running;
  try {
    for (const [i, step] of (spec.steps ?? []).entries()) await runStep(running, step, i);
    if (spec.expect?.converged !== false) await virtual.until("everything to be up to date", () => owners.converged(), running.leftMs());
    else await virtual.pass(running.leftMs());
  } catch (e) {
    const [what = ""] = (e instanceof Error ? e.message : String(e)).split("\n");
    const open = owners.openText();
    fail(open === "" ? what : `${what} (${open})`);
  }
}

/** With nothing to do, nothing is written. */
async function quiet({ virtual, faults, owners }: Running, writes: Map<string, number>, fail: (text: string) => void): Promise<void> {
  Object.assign(faults.settings, NO_FAULTS);
  await virtual.pass(SETTLE_MS);
  if (!owners.converged()) return fail(`did not stay as wanted: ${owners.openText()}`);
  writes.clear();
  await virtual.pass(QUIET_MS);
  const busy = QUIET_RESOURCES.filter((r) => (writes.get(r) ?? 0) > 0).map((r) => `${r} ${writes.get(r)}`);
  if (busy.length > 0) fail(`writes although nothing changed, in ${QUIET_MS / 1_000} s: ${busy.join(", ")}`);
}

async function conditionsAt(user: Client, { expect }: ScenarioSpec): Promise<ReadonlyMap<string, readonly Condition[]>> {
  const found = new Map<string, readonly Condition[]>();
  for (const { kind, namespace = "default", name } of expect?.conditions ?? []) {
    const known = kindOf(kind);
    if (!known) continue;
    const object = await user.get(known.resource, { namespace, name }).catch(() => undefined);
    if (object)
      found.set(`${kind}/${namespace}/${name}`, (object as { status?: { conditions?: readonly Condition[] } }).status?.conditions ?? []);
  }
  return found;
}
