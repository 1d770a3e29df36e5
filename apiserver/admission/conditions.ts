// Match conditions of webhooks: CEL expressions that say when a hook is called.
// Here: compiling and judging them. Not here: the language (schema/cel), what follows from the verdict (webhooks.ts).
import { compileProgram, type Program } from "../../schema/cel/program.ts";
import { kubernetesEnvironment } from "../../schema/cel/library.ts";
import type { MatchCondition } from "./configuration.ts";

/** What expressions see. `object` and `oldObject` are null where there is none. */
export interface ConditionVariables {
  readonly object: unknown;
  readonly oldObject: unknown;
  /** The AdmissionRequest without the objects. */
  readonly request: unknown;
}

export type ConditionVerdict = { readonly matches: boolean } | { readonly fault: string };

type Environment = ReturnType<typeof kubernetesEnvironment>;

/** As kube-apiserver's cost limit: no condition may hold up the server. */
const STEPS_MAX = 100_000;

export interface Conditions {
  /** One that is false decides; else one that cannot be evaluated is a fault. */
  judge(conditions: readonly MatchCondition[], variables: () => ConditionVariables): ConditionVerdict;
}

/** Expressions are compiled once, as long as their configuration is not changed. */
export function createConditions(): Conditions {
  let environment: Environment | undefined;
  const programs = new WeakMap<MatchCondition, Program | { readonly fault: string }>();
  const programOf = (condition: MatchCondition): Program | { readonly fault: string } => {
    let program = programs.get(condition);
    if (program === undefined) {
      environment ??= newEnvironment();
      program = compile(environment, condition);
      programs.set(condition, program);
    }
    return program;
  };
  return {
    judge(conditions, variables) {
      if (conditions.length === 0) return { matches: true };
      const seen = variables();
      const values = { object: celValue(seen.object), oldObject: celValue(seen.oldObject), request: celValue(seen.request) };
      let fault: string | undefined;
      for (const condition of conditions) {
        const result = evaluate(programOf(condition), values);
        if (result === false) return { matches: false };
        if (typeof result === "string") fault ??= `match condition ${JSON.stringify(condition.name)}: ${result}`;
      }
      return fault === undefined ? { matches: true } : { fault };
    },
  };
}

const newEnvironment = (): Environment =>
  ["object", "oldObject", "request"].reduce((environment, name) => environment.registerVariable(name, "dyn"), kubernetesEnvironment());

function compile(environment: Environment, condition: MatchCondition): Program | { readonly fault: string } {
  try {
    return compileProgram(environment, condition.expression, "bool");
  } catch (error) {
    return { fault: textOf(error) };
  }
}

function evaluate(program: Program | { readonly fault: string }, values: Readonly<Record<string, unknown>>): boolean | string {
  if ("fault" in program) return program.fault;
  try {
    const result = program.run(values, { left: STEPS_MAX });
    return typeof result === "boolean" ? result : "the expression does not evaluate to bool";
  } catch (error) {
    return textOf(error);
  }
}

function textOf(error: unknown): string {
  const { summary, message } = error as { readonly summary?: string; readonly message?: string };
  return summary ?? message ?? String(error);
}

/** JSON without a schema: objects are maps, whole numbers ints. */
function celValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(celValue);
  if (typeof value === "object" && value !== null) return new Map(Object.entries(value).map(([key, field]) => [key, celValue(field)]));
  return typeof value === "number" && Number.isInteger(value) ? BigInt(value) : value;
}
