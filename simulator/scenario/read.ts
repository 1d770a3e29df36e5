// From a parsed document to a scenario that can be run. Here: what is wrong with it, by field. Not here: files and YAML (cmd/simulate.ts).
import { kindOf } from "../../api/index.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { compileSchema } from "../../schema/compile.ts";
import { SCENARIO_API_VERSION, SCENARIO_KIND, type Scenario, scenarioSchema } from "./schema.ts";

export class ScenarioError extends Error {
  readonly code = "ScenarioError";
  readonly hint: string;
  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

const compiled = compileSchema(scenarioSchema);

/** @param source shown in errors, such as a file name  @throws ScenarioError that names each field that is wrong */
export function readScenario(document: unknown, source: string): Scenario {
  const { apiVersion, kind } = (document ?? {}) as { apiVersion?: unknown; kind?: unknown };
  if (apiVersion !== SCENARIO_API_VERSION || kind !== SCENARIO_KIND)
    throw new ScenarioError(
      `${source} is no scenario: apiVersion ${JSON.stringify(apiVersion)}, kind ${JSON.stringify(kind)}`,
      `start it with "apiVersion: ${SCENARIO_API_VERSION}" and "kind: ${SCENARIO_KIND}"`,
    );
  const unknown: string[] = [];
  const scenario = compiled.defaultAndPrune(document, { onUnknown: (field) => unknown.push(field) }) as Scenario;
  const faults = [
    ...unknown.map((field) => `${field}: unknown field`),
    ...compiled.validate(scenario).map((e) => `${e.field}: ${e.message}`),
  ];
  if (faults.length > 0) throw new ScenarioError(`${source}: ${faults.join("; ")}`, "docs/simulate.md lists the fields");
  for (const [i, step] of (scenario.spec.steps ?? []).entries()) if (!doesSomething(step)) throw idle(source, i);
  return scenario;
}

const doesSomething = (step: object): boolean => Object.keys(step).some((key) => key !== "name");
const idle = (source: string, i: number): ScenarioError =>
  new ScenarioError(
    `${source}: spec.steps[${i}] does nothing and waits for nothing`,
    "give it one of afterSeconds, when, apply, files, patch, scale, delete, fault",
  );

/** @throws ScenarioError for an object of a kind that nobody serves */
export function assertKnown(object: KubeObject, source: string): void {
  if (!object?.kind || !object.metadata?.name)
    throw new ScenarioError(`${source} holds a document without kind and metadata.name`, "every manifest is one Kubernetes object");
  if (!kindOf(object.kind) && object.kind !== "Namespace")
    throw new ScenarioError(
      `${source} holds a ${object.kind}, which a simulation does not know`,
      "use kinds of Cluster API as docs/reference lists them",
    );
}
