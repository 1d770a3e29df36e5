// Steps that do not wait for each other's success. Here: collecting failures, and throwing them when all is done.
// Source: spec/controllers/machine.md section 2, cluster.md section 2.
import type { Step } from "../../runtime/controller.ts";

export interface WithFailures {
  readonly failures: unknown[];
}

/** A step whose failure is told at the end and does not keep later steps from running. */
export const independent =
  <V extends WithFailures>(step: Step<V>): Step<V> =>
  async (view, context) => {
    try {
      return await step(view, context);
    } catch (e) {
      view.failures.push(e);
      return undefined;
    }
  };

/** @throws the one failure, or one error that names all */
export function throwFailures({ failures }: WithFailures): void {
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, failures.map((e) => (e instanceof Error ? e.message : String(e))).join("; "));
}
