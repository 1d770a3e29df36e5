// The file format of scenarios: group simulation.theseus.dev, version v1alpha1, kind Scenario. Here: schema and types.
// Not here: reading files (cmd/), running (run.ts). Documented in docs/simulate.md.
import { anyObject, boolean, int32, list, must, object, oneOf, someOf, string, stringMap, text, type TypeOf } from "../../api/shape.ts";

export const SCENARIO_API_VERSION = "simulation.theseus.dev/v1alpha1";
export const SCENARIO_KIND = "Scenario";

const count = (description: string) => int32(description, { minimum: 0 });
const percent = (description: string) => int32(description, { minimum: 0, maximum: 100 });
const seconds = (description: string) => int32(description, { minimum: 0, maximum: 31_536_000 });
const objects = (description: string) => list(anyObject("One object."), { min: 1, max: 1000 }, description);
const fileNames = list(text(1, 1024, "Path, relative to the scenario's file."), { min: 1, max: 100 }, "Files with YAML documents.");

const objectRef = {
  kind: must(text(1, 63, "Kind of the object, one that theseus serves or Node.")),
  name: must(text(1, 253, "Name of the object.")),
  namespace: text(1, 63, "Namespace of the object; unset means default."),
};

const faultSettings = {
  watchLagMilliseconds: int32("Each event of a watch comes up to so much later; kinds do not wait for each other.", {
    minimum: 0,
    maximum: 600_000,
  }),
  droppedWatchesPercent: percent("Chance of each event to break its watch."),
  hookErrorsPercent: percent("Chance of each call of the extension to fail."),
  writeErrorsPercent: percent("Chance of each write of a controller to be refused with 500."),
  restartAfterWrites: count("The controllers' process dies after so many more writes and starts anew; 0 means never."),
};
const faults = someOf(faultSettings, "What goes wrong from the beginning of the steps.");

const condition = object(
  { ...objectRef, type: must(text(1, 316, "Type of the condition.")), status: must(oneOf(["True", "False", "Unknown"], "Its status.")) },
  "A condition of one object.",
);

const trigger = someOf(
  {
    machines: someOf(
      {
        created: count("Machines created since the steps began."),
        deleted: count("Machines deleted since the steps began."),
        updatedInPlace: count("Machines updated in place since the steps began."),
        updating: count("Machines being updated in place right now."),
      },
      "At least so many Machines.",
    ),
    condition,
    converged: boolean("Everything is up to date and available."),
  },
  "What to wait for; all that is given must hold.",
);

const step = someOf(
  {
    name: text(1, 128, "Shown in the story."),
    afterSeconds: seconds("Waits so long after the step before."),
    when: trigger,
    files: fileNames,
    apply: objects("Applied as kubectl apply --server-side would."),
    patch: object({ ...objectRef, merge: must(anyObject("A merge patch.")) }, "Changes one object."),
    scale: object({ ...objectRef, replicas: must(count("New spec.replicas.")) }, "Scales one object."),
    delete: object(objectRef, "Deletes one object."),
    fault: someOf(
      {
        ...faultSettings,
        breakWatches: boolean("All watches of the controllers break now."),
        restart: boolean("The controllers' process ends now and starts anew."),
        loseNode: object(
          {
            machine: must(text(1, 253, "Name of the Machine, or the beginning of it: the first by name is taken.")),
            namespace: text(1, 63, "Namespace of the Machine; unset means default."),
            forSeconds: seconds("When its Node comes back; unset means never."),
          },
          "A Node is not Ready any more.",
        ),
      },
      "What goes wrong from here on.",
    ),
  },
  "One thing the user, or fate, does.",
);

const range = {
  min: count("At least."),
  max: count("At most."),
};
const figure = (what: string) => someOf({ ...range, exactly: count("This many.") }, what);

const expectedMachines = someOf(
  {
    of: someOf(
      { kind: oneOf(["MachineDeployment", "KubeadmControlPlane"], "Kind."), name: text(1, 253, "Name.") },
      "Whose Machines; unset means all.",
    ),
    present: figure("Machines at the end, those being deleted left out."),
    kept: figure("Machines that were there when the steps began."),
    created: figure("Machines created."),
    deleted: figure("Machines deleted."),
    updatedInPlace: figure("Machines updated in place, each counted once."),
    peak: figure("Most Machines at a time."),
    minAvailable: figure("Fewest available Machines at a time."),
  },
  "Figures since the steps began.",
);

export const scenarioSpec = object(
  {
    featureGates: stringMap('Feature gates over those of theseus dev: "true" or "false" by name.'),
    timings: someOf(
      {
        commands: oneOf(["Realistic", "Instant"], "How long commands on simulated machines take."),
        nodeReadySeconds: seconds("From the start of a kubelet until its Node is Ready."),
      },
      "How long things take.",
    ),
    files: fileNames,
    manifests: objects("What there is before the steps begin, applied in this order."),
    updater: someOf(
      {
        covers: oneOf(["Usual", "Nothing"], "Which changes it can make: those of the kubeadm updater, or none."),
        durationSeconds: seconds("How long an update takes at least."),
        failTimes: count("How often the update of each Machine fails before it succeeds."),
      },
      "How the update extension behaves.",
    ),
    faults,
    steps: list(step, { min: 1, max: 1000 }, "In this order."),
    expect: someOf(
      {
        converged: boolean("Everything is up to date and available at the end; unset means true."),
        withinSeconds: seconds("Virtual time from the first step to the end."),
        machines: list(expectedMachines, { min: 1, max: 100 }, "Figures of Machines."),
        conditions: list(condition, { min: 1, max: 100 }, "Conditions at the end."),
      },
      "What must hold at the end.",
    ),
  },
  "What there is, what happens, what must hold.",
);

export type ScenarioSpec = TypeOf<typeof scenarioSpec>;
export type ScenarioStep = NonNullable<ScenarioSpec["steps"]>[number];
export type ScenarioExpectation = NonNullable<ScenarioSpec["expect"]>;
export type FigureRange = NonNullable<NonNullable<ScenarioExpectation["machines"]>[number]["peak"]>;

export interface Scenario {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name?: string };
  readonly spec: ScenarioSpec;
}

export const scenarioSchema = object(
  {
    apiVersion: must(string(`Always ${SCENARIO_API_VERSION}.`)),
    kind: must(string(`Always ${SCENARIO_KIND}.`)),
    metadata: anyObject("Name of the scenario."),
    spec: must(scenarioSpec),
  },
  "A simulation: what there is, what happens, what must hold.",
);
