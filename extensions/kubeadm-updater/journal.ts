// The journal on the machine: what was begun, what is done. The truth is each step's done-check; the journal only says where to look first.
// Here: its form, reading and writing. Source: spec/runtime/kubeadm-updater.md section 7.
import type { NodeExec } from "./host.ts";
import type { Target } from "./target.ts";

export interface JournalStep {
  readonly id: string;
  readonly state: "todo" | "running" | "done" | "failed";
  readonly attempts: number;
}

export interface Journal {
  readonly machine: { readonly namespace: string; readonly name: string; readonly providerId: string };
  readonly desiredHash: string;
  readonly state: "running" | "done";
  readonly steps: readonly JournalStep[];
  readonly bootId: string;
  /** What static Pods were last made from; absent before the first update. */
  readonly staticPodInputs?: string;
  /** Hash of the command list that has run. */
  readonly commandsHash?: string;
  /** Paths that updates have written, with the content they found: absent file = null. */
  readonly originals: Readonly<Record<string, string | null>>;
}

const PATH = "/var/lib/inplace-updater/journal.json";
const OWNER_ONLY = { owner: "root:root", permissions: "0600" };

/** The machine's journal; one of another machine of the same name, or one that is no JSON, counts as none. */
export async function readJournal(host: NodeExec, target: Target): Promise<Journal | undefined> {
  const text = await host.read(PATH);
  if (text === undefined) return undefined;
  try {
    const journal = JSON.parse(text) as Journal;
    return journal.machine.providerId === target.providerId ? journal : undefined;
  } catch {
    return undefined;
  }
}

export const writeJournal = (host: NodeExec, journal: Journal): Promise<void> =>
  host.write(PATH, `${JSON.stringify(journal)}\n`, OWNER_ONLY);

/** A journal for a new update; what earlier ones learnt is kept. */
export function openJournal(target: Target, before: Journal | undefined, bootId: string, steps: readonly string[]): Journal {
  return {
    machine: { namespace: target.namespace, name: target.name, providerId: target.providerId },
    desiredHash: target.hash,
    state: "running",
    steps: steps.map((id) => ({ id, state: "todo", attempts: 0 })),
    bootId,
    ...(before?.staticPodInputs === undefined ? {} : { staticPodInputs: before.staticPodInputs }),
    ...(before?.commandsHash === undefined ? {} : { commandsHash: before.commandsHash }),
    originals: before?.originals ?? {},
  };
}

export const withStep = (journal: Journal, id: string, change: Partial<JournalStep>): Journal => ({
  ...journal,
  steps: journal.steps.map((s) => (s.id === id ? { ...s, ...change } : s)),
});
