// Which Machine is next, and where a new one goes. Here: pure choices. Ties between failure domains are broken by their names.
// Not here: whether anything is done at all (plan.ts). Source: spec/controllers/kubeadmcontrolplane.md 10.3 and 10.4.
import type { Cluster } from "../../api/cluster.ts";
import type { Machine } from "../../api/machine.ts";
import { byAge, compareText, hasDeleteWish, healthConditions, isFalseOn, nameOf } from "./machines.ts";

export interface Candidates {
  /** Not deleting. */
  readonly machines: readonly Machine[];
  /** Of those, the ones that must change. */
  readonly outdated: readonly Machine[];
  readonly managedEtcd: boolean;
  /** Names of domains that may hold control plane Machines. */
  readonly failureDomains: readonly string[];
}

/** Names of the Cluster's failure domains for control planes, sorted. */
export const controlPlaneDomains = (cluster: Cluster): readonly string[] =>
  (cluster.status?.failureDomains ?? [])
    .filter((d) => d.controlPlane === true)
    .map((d) => d.name)
    .sort(compareText);

/** The first of these sets that is not empty. */
function candidateSet({ machines, outdated, managedEtcd }: Candidates): readonly Machine[] {
  const sick = (m: Machine): boolean => healthConditions(managedEtcd).some((type) => isFalseOn(m, type));
  const sets = [outdated.filter(hasDeleteWish), machines.filter(hasDeleteWish), outdated.filter(sick), outdated, machines];
  return sets.find((set) => set.length > 0) ?? [];
}

const countIn = (machines: readonly Machine[], domain: string): number => machines.filter((m) => m.spec.failureDomain === domain).length;

/** The Machine to be deleted or updated next.
 *  @param spare the choice is for an update in place while there is one Machine too many: the crowded domain is left for the delete to come */
export function chooseMachine(input: Candidates, spare = false): Machine | undefined {
  const { machines, failureDomains } = input;
  const candidates = candidateSet(input);
  const outside = candidates.filter((m) => !failureDomains.includes(m.spec.failureDomain ?? ""));
  if (outside.length > 0) {
    const oldest = [...outside].sort(byAge)[0];
    return spare && candidates.length > outside.length ? oldestIn(candidates, leastCrowded(candidates, machines, failureDomains)) : oldest;
  }
  const domain = spare ? leastCrowded(candidates, machines, failureDomains) : mostCrowded(candidates, machines, failureDomains);
  return oldestIn(candidates, domain);
}

const oldestIn = (candidates: readonly Machine[], domain: string | undefined): Machine | undefined =>
  candidates.filter((m) => m.spec.failureDomain === domain).sort(byAge)[0];

const holding = (candidates: readonly Machine[], domains: readonly string[]): string[] => domains.filter((d) => countIn(candidates, d) > 0);

const mostCrowded = (candidates: readonly Machine[], all: readonly Machine[], domains: readonly string[]): string | undefined =>
  holding(candidates, domains).sort(
    (a, b) => countIn(candidates, b) - countIn(candidates, a) || countIn(all, b) - countIn(all, a) || compareText(a, b),
  )[0];

const leastCrowded = (candidates: readonly Machine[], all: readonly Machine[], domains: readonly string[]): string | undefined =>
  holding(candidates, domains).sort((a, b) => countIn(all, a) - countIn(all, b) || compareText(a, b))[0];

/** The domain of a new Machine: fewest up-to-date Machines, then fewest of all. Undefined when there are no domains. */
export function domainForNew(
  machines: readonly Machine[],
  upToDate: readonly Machine[],
  failureDomains: readonly string[],
): string | undefined {
  return [...failureDomains].sort(
    (a, b) => countIn(upToDate, a) - countIn(upToDate, b) || countIn(machines, a) - countIn(machines, b) || compareText(a, b),
  )[0];
}

/** For texts: `m1, m2`. */
export const namesOf = (machines: readonly Machine[]): string => machines.map(nameOf).sort(compareText).join(", ");
