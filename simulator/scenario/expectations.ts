// What a scenario expects at its end, held against what came. Here: pure comparisons, one text per failure. Not here: invariants (invariants.ts).
import type { Condition } from "../../api/meta/object.ts";
import type { MachineFigures } from "./report.ts";
import type { FigureRange, ScenarioExpectation } from "./schema.ts";

export interface Outcome {
  readonly virtualSeconds: number;
  /** By `Kind/name`, and `all`. */
  readonly figures: ReadonlyMap<string, MachineFigures>;
  /** Undefined: the object does not exist. */
  readonly conditionOf: (kind: string, namespace: string, name: string) => readonly Condition[] | undefined;
}

export function unmet(expect: ScenarioExpectation | undefined, outcome: Outcome): readonly string[] {
  if (!expect) return [];
  const late = expect.withinSeconds !== undefined && outcome.virtualSeconds > expect.withinSeconds;
  return [
    ...(late ? [`took ${outcome.virtualSeconds} s, expected within ${expect.withinSeconds} s`] : []),
    ...(expect.machines ?? []).flatMap((machines) => unmetFigures(machines, outcome)),
    ...(expect.conditions ?? []).flatMap((wanted) => unmetCondition(wanted, outcome)),
  ];
}

type ExpectedMachines = NonNullable<ScenarioExpectation["machines"]>[number];
const FIGURES = ["present", "kept", "created", "deleted", "updatedInPlace", "peak", "minAvailable"] as const;

function unmetFigures(expected: ExpectedMachines, { figures }: Outcome): readonly string[] {
  const owner = expected.of ? `${expected.of.kind}/${expected.of.name}` : "all";
  const found = figures.get(owner);
  if (!found) return [`${owner} has no Machines to count: there is no such object`];
  return FIGURES.flatMap((name) => {
    const range = expected[name];
    const wrong = range && outOf(range, found[name]);
    return wrong ? [`machines.${name} of ${owner} is ${found[name]}, expected ${wrong}`] : [];
  });
}

function outOf({ exactly, min, max }: FigureRange, value: number): string | undefined {
  if (exactly !== undefined && value !== exactly) return String(exactly);
  if (min !== undefined && value < min) return `at least ${min}`;
  if (max !== undefined && value > max) return `at most ${max}`;
  return undefined;
}

type ExpectedCondition = NonNullable<ScenarioExpectation["conditions"]>[number];

function unmetCondition({ kind, name, namespace = "default", type, status }: ExpectedCondition, outcome: Outcome): readonly string[] {
  const conditions = outcome.conditionOf(kind, namespace, name);
  if (!conditions) return [`${kind} ${name} does not exist, so ${type} is not ${status}`];
  const found = conditions.find((c) => c.type === type);
  if (found?.status === status) return [];
  return [`${type} of ${kind} ${name} is ${found?.status ?? "absent"}${found?.message ? ` (${found.message})` : ""}, expected ${status}`];
}
