// Reading what rules ask for where reading takes time. Here: all reads of one request, waiting for an object that is on its way.
// Not here: which reads (the rule sets), how one is read (real/, the caller). Source: spec/api/cluster.md sections 4, 5.
import type { KubeObject } from "../api/meta/object.ts";
import { keyText } from "../api/meta/resource.ts";
import type { Clock } from "../runtime/base/clock.ts";
import { type Findings, type ListRead, type ObjectRead, type Read, Unreadable } from "./rule-set.ts";

/** Live or cached. */
export interface ObjectReader {
  /** undefined = absent; rejects when that cannot be said. */
  get(read: ObjectRead): Promise<KubeObject | undefined>;
  list(read: ListRead): Promise<readonly KubeObject[]>;
}

/** A ClusterClass and its Clusters are often created together. */
const WAIT_MS = 2_000;
const STEP_MS = 200;

type Outcome = { readonly value: KubeObject | readonly KubeObject[] | undefined } | { readonly failure: string };

const isObjectRead = (read: Read): read is ObjectRead => "key" in read;

/** One text per read. */
const readText = (read: Read): string =>
  isObjectRead(read)
    ? `${read.resource.group}/${read.resource.plural}/${keyText(read.key)}`
    : `${read.resource.group}/${read.resource.plural}?${read.namespace ?? ""}&${JSON.stringify(Object.entries(read.labels ?? {}).sort())}`;

async function outcome(reader: ObjectReader, read: Read): Promise<Outcome> {
  try {
    return { value: isObjectRead(read) ? await reader.get(read) : await reader.list(read) };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

async function awaited(reader: ObjectReader, read: Read, clock: Clock): Promise<Outcome> {
  const endMs = clock.nowMs() + WAIT_MS;
  for (;;) {
    const one = await outcome(reader, read);
    const suffices = !isObjectRead(read) || !read.suffices || ("value" in one && read.suffices(one.value as KubeObject | undefined));
    if (suffices || clock.nowMs() + STEP_MS > endMs) return one;
    await new Promise<void>((done) => clock.after(STEP_MS, done));
  }
}

/** Takes at most two seconds more than the reading itself. */
export async function readAll(reader: ObjectReader, reads: readonly Read[], clock: Clock): Promise<Findings> {
  const outcomes = new Map(await Promise.all(reads.map(async (read) => [readText(read), await awaited(reader, read, clock)] as const)));
  const contentOf = (read: Read): KubeObject | readonly KubeObject[] | undefined => {
    const one = outcomes.get(readText(read));
    if (one && "failure" in one) throw new Unreadable(`${read.resource.kind} cannot be read: ${one.failure}`);
    return one?.value;
  };
  return {
    found: (read) => contentOf(read) as KubeObject | undefined,
    listed: (read) => (contentOf(read) ?? []) as readonly KubeObject[],
  };
}
