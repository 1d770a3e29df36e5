// What a run of a scenario comes to, as data and as lines for people. Here: the shape of the report (-o json) and its text.
export interface MachineFigures {
  readonly present: number;
  readonly kept: number;
  readonly created: number;
  readonly deleted: number;
  readonly updatedInPlace: number;
  readonly peak: number;
  readonly minAvailable: number;
}

export interface ScenarioReport {
  readonly scenario: string;
  readonly seed: number;
  readonly passed: boolean;
  /** Expectations and invariants that do not hold, in words. */
  readonly failures: readonly string[];
  /** Of all Machines, from the first step on. */
  readonly machines: MachineFigures;
  /** The same by `Kind/name` of what they belong to. */
  readonly owners: Readonly<Record<string, MachineFigures>>;
  readonly virtualSeconds: number;
  /** Writes of the controllers from the first step on, by resource; sorted. */
  readonly writes: Readonly<Record<string, number>>;
  readonly restarts: number;
  /** Shell command that runs the same again; absent when it passed. */
  readonly replay?: string;
}

export function reportLines(report: ScenarioReport, story: readonly string[]): readonly string[] {
  const { machines, failures, virtualSeconds, restarts, writes, replay } = report;
  return [
    ...story,
    "",
    `${report.scenario}, seed ${report.seed}: ${report.passed ? "passed" : "FAILED"} after ${virtualSeconds} s of virtual time`,
    `  machines: ${machines.present} now, ${machines.created} created, ${machines.deleted} deleted, ${machines.updatedInPlace} updated in place, most ${machines.peak}, fewest available ${machines.minAvailable}`,
    ...Object.entries(report.owners).map(
      ([owner, m]) =>
        `  ${owner}: ${m.present} now, ${m.created} created, ${m.deleted} deleted, ${m.updatedInPlace} updated in place, most ${m.peak}, fewest available ${m.minAvailable}`,
    ),
    `  writes: ${Object.entries(writes)
      .map(([resource, n]) => `${resource} ${n}`)
      .join(", ")}${restarts > 0 ? `; ${restarts} restarts` : ""}`,
    ...failures.map((failure) => `  failed: ${failure}`),
    ...(replay === undefined ? [] : [`  again: ${replay}`]),
  ];
}
