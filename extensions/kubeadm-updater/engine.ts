// Runs updates: one worker per machine, in the background; a call only starts or looks.
// Here: resume, retries, progress. Not here: the steps (steps.ts), the hook's form (handlers.ts). Losing this process loses nothing: the
// journal on the machine and the steps' done-checks say where to go on. Source: spec/runtime/kubeadm-updater.md sections 7-9.
import type { Logger } from "../../runtime/base/log.ts";
import type { ClusterAccess, OpenCluster } from "./cluster.ts";
import type { NodeExec, OpenHost } from "./host.ts";
import { type Journal, openJournal, readJournal, withStep, writeJournal } from "./journal.ts";
import { firstVerdict } from "./preconditions.ts";
import { observeNeeds, planSteps, STEPS, type Step, type StepContext } from "./steps.ts";
import type { Target } from "./target.ts";

/** `seconds` 0 = done. */
export type Answer =
  | { readonly kind: "progress"; readonly seconds: number; readonly message: string }
  | { readonly kind: "failure"; readonly message: string };

/** How soon a caller should ask again, in seconds. */
export interface Paces {
  readonly short: number;
  readonly long: number;
  readonly outside: number;
}

export const PACES: Paces = { short: 5, long: 15, outside: 30 };

export interface EngineParts {
  readonly openHost: OpenHost;
  readonly openCluster: OpenCluster;
  readonly log: Logger;
  readonly paces?: Paces;
  /** Gives a run that has just been started or looked at the chance to settle; must end soon whether it does or not. */
  readonly patience: (settled: Promise<void>) => Promise<void>;
}

const ATTEMPTS_MAX = 5;
// A step that waits for others (budgets, a Node becoming Ready) is looked at this often before a person is asked.
const LOOKS_MAX = 240;

interface Run {
  readonly target: Target;
  settled: Promise<void>;
  answer: Answer;
  active: boolean;
  /** Another target has been asked for: stop before the next step. */
  superseded: boolean;
}

export interface Engine {
  /** Starts, resumes or looks at the update of one machine. */
  update(target: Target): Promise<Answer>;
  /** Updates that are under way in this process. */
  activeCount(): number;
}

const progress = (seconds: number, message: string): Answer => ({ kind: "progress", seconds, message });

export function createEngine(parts: EngineParts): Engine {
  const runs = new Map<string, Run>();
  const paces = parts.paces ?? PACES;
  const unreachable = new Map<string, number>();

  const start = (key: string, target: Target): Run => {
    const run: Run = {
      target,
      settled: Promise.resolve(),
      answer: progress(paces.short, "update started"),
      active: true,
      superseded: false,
    };
    runs.set(key, run);
    run.settled = drive(parts, paces, run, unreachable).then(
      () => {
        run.active = false;
      },
      (error: unknown) => {
        run.active = false;
        run.answer = answerToFault(error, key, unreachable, paces);
        parts.log.warn("update stopped", {
          machine: key,
          error: error instanceof Error ? error.message : String(error),
          stderr: (error as { stderr?: string }).stderr,
        });
      },
    );
    return run;
  };

  return {
    async update(target) {
      const key = `${target.namespace}/${target.name}`;
      const known = runs.get(key);
      // A run under another target finishes its present step first: it looks at the map before each step.
      if (known?.active && known.target.hash !== target.hash) known.superseded = true;
      const run = known?.active ? known : start(key, target);
      await parts.patience(run.settled);
      if (!run.active) runs.delete(key);
      return run.answer;
    },
    activeCount: () => [...runs.values()].filter((r) => r.active).length,
  };
}

function answerToFault(error: unknown, key: string, unreachable: Map<string, number>, paces: Paces): Answer {
  if ((error as { code?: string }).code === "HostUnreachable") {
    const tries = (unreachable.get(key) ?? 0) + 1;
    unreachable.set(key, tries);
    return tries < 10 ? progress(paces.outside, "waiting: host") : { kind: "failure", message: "host unreachable" };
  }
  return progress(paces.outside, "waiting: workload cluster");
}

async function drive(parts: EngineParts, paces: Paces, run: Run, unreachable: Map<string, number>): Promise<void> {
  const { target } = run;
  const host = await parts.openHost(target);
  try {
    const cluster = await parts.openCluster({ namespace: target.namespace, name: target.clusterName });
    await driveOn(host, cluster, paces, run, parts.log);
    unreachable.delete(`${target.namespace}/${target.name}`);
  } finally {
    host.close();
  }
}

async function driveOn(host: NodeExec, cluster: ClusterAccess, paces: Paces, run: Run, log: Logger): Promise<void> {
  const { target } = run;
  const before = await readJournal(host, target);
  if (before?.state === "done" && before.desiredHash === target.hash) {
    run.answer = progress(0, `node at ${target.version}`);
    return;
  }
  const node = await cluster.nodeByProviderId(target.providerId);
  const resumed = before?.state === "running" && before.desiredHash === target.hash;
  const needs = await observeNeeds(host, target, before, node?.kubeletVersion ?? "");
  const steps = resumed ? STEPS.filter((s) => before.steps.some((j) => j.id === s.id)) : planSteps(needs, target);
  if (steps.length === 0) {
    if (before?.state === "running") await writeJournal(host, { ...before, desiredHash: target.hash, state: "done" });
    run.answer = progress(0, `node at ${target.version}`);
    return;
  }
  if (!resumed) {
    const verdict = await firstVerdict({ host, cluster, target, node, needs });
    if (verdict) {
      run.answer =
        verdict.kind === "wait"
          ? progress(Math.min(verdict.seconds, paces.outside), verdict.text)
          : { kind: "failure", message: verdict.text };
      return;
    }
  }
  const bootId = await host.bootId();
  const journal = resumed
    ? afterBoot(before, bootId)
    : openJournal(
        target,
        before,
        bootId,
        steps.map((s) => s.id),
      );
  const context: StepContext = { host, cluster, target, node: node?.name ?? "", journal };
  await writeJournal(host, journal);
  for (const [i, step] of steps.entries()) {
    if (run.superseded) {
      run.answer = progress(paces.short, "waiting: previous update of this machine");
      return;
    }
    const label = `step ${i + 1} of ${steps.length}: ${step.name}`;
    run.answer = progress(step.pace === "short" ? paces.short : paces.long, label);
    if (!(await perform(step, context, label, run, paces, log))) return;
  }
  await writeJournal(host, { ...context.journal, state: "done" });
  run.answer = progress(0, `node at ${target.version}`);
}

/** After a reboot nothing that was running is; a check whose effect is gone must be made again. */
const afterBoot = (journal: Journal, bootId: string): Journal =>
  journal.bootId === bootId
    ? journal
    : { ...journal, bootId, steps: journal.steps.map((s) => (s.state === "running" ? { ...s, state: "todo" } : s)) };

/** Check, act, check. @returns whether the next step may begin */
async function perform(step: Step, context: StepContext, label: string, run: Run, paces: Paces, log: Logger): Promise<boolean> {
  const mark = async (state: "running" | "done" | "failed", attempts: number): Promise<void> => {
    context.journal = withStep(context.journal, step.id, { state, attempts });
    await writeJournal(context.host, context.journal);
  };
  if (await step.isDone(context)) {
    if (context.journal.steps.find((s) => s.id === step.id)?.state !== "done") await mark("done", 0);
    return true;
  }
  const attempts = (context.journal.steps.find((s) => s.id === step.id)?.attempts ?? 0) + 1;
  if (attempts > (step.settles === false ? LOOKS_MAX : ATTEMPTS_MAX)) {
    run.answer = { kind: "failure", message: `${label}: gave up` };
    // A later call tries again from the start of this step.
    await mark("failed", 0);
    return false;
  }
  await mark("running", attempts);
  try {
    await step.act(context);
    // Steps whose proof is the journal are done once their act has succeeded.
    context.journal = withStep(context.journal, step.id, { state: "done", attempts });
    if (await step.isDone(context)) {
      await mark("done", attempts);
      return true;
    }
    await mark("running", attempts);
    run.answer = progress(step.pace === "short" ? paces.short : paces.long, step.settles === false ? `waiting: ${step.name}` : label);
    return false;
  } catch (error) {
    if ((error as { code?: string }).code === "HostUnreachable") throw error;
    log.warn("step failed", {
      machine: `${run.target.namespace}/${run.target.name}`,
      step: step.id,
      attempt: attempts,
      error: error instanceof Error ? error.message : String(error),
      stderr: (error as { stderr?: string }).stderr,
    });
    run.answer =
      attempts < ATTEMPTS_MAX
        ? progress(paces.outside, `${label}, retrying`)
        : { kind: "failure", message: `${label}: ${errorClass(error)}` };
    return false;
  }
}

const errorClass = (error: unknown): string => ((error as { code?: string }).code === "CommandFailed" ? "command failed" : "failed");

/** Patience without time: lets everything settle that needs nothing but turns of the promise queue. */
export async function microtasks(settled: Promise<void>): Promise<void> {
  let over = false;
  settled.then(() => {
    over = true;
  });
  for (let turn = 0; turn < MICROTASK_TURNS_MAX && !over; turn++) await Promise.resolve();
}

// A whole version update on a simulated host without delays takes about 400 turns, and those of the requests to an API server in process.
const MICROTASK_TURNS_MAX = 8_000;
