// ClusterClass.spec.patches: changes to templates, inline or by an extension. Source: spec/api/clusterclass.md section 2.
import { groupVersionPattern, kindPattern } from "./patterns.ts";
import { anyJson, boolean, list, must, object, oneOf, someOf, stringMap, text, type TypeOf } from "./shape.ts";

const classNames = (what: string) =>
  object(
    { names: list(text(1, 256, "Name, or a part of it with `*` at the start or end."), { max: 100 }, "Names of classes.") },
    `Templates of ${what} with these classes.`,
  );

const selector = object(
  {
    apiVersion: must(text(1, 317, "Group and version of the templates.", { pattern: groupVersionPattern })),
    kind: must(text(1, 63, "Kind of the templates.", { pattern: kindPattern })),
    matchResources: must(
      someOf(
        {
          controlPlane: boolean("The template of the control plane or of its machines."),
          infrastructureCluster: boolean("The template of the infrastructure cluster."),
          machineDeploymentClass: classNames("MachineDeployments"),
          machinePoolClass: classNames("MachinePools"),
        },
        "Which templates of this kind.",
      ),
    ),
  },
  "Templates to change.",
);

const jsonPatch = object(
  {
    op: must(oneOf(["add", "replace", "remove"], "What to do.")),
    path: must(text(1, 512, "Where, as a JSON pointer; starts with /spec.")),
    value: anyJson("Value to set; not together with valueFrom."),
    valueFrom: object(
      {
        variable: text(1, 256, "Name or path of a variable."),
        template: text(1, 10240, "Go text template; its result is read as YAML."),
      },
      "Source of the value: exactly one of variable and template.",
    ),
  },
  "One operation.",
);
export type ClassJsonPatch = TypeOf<typeof jsonPatch>;

const definition = object(
  { selector: must(selector), jsonPatches: must(list(jsonPatch, { min: 1, max: 100 }, "Operations, in order.")) },
  "Operations on some templates.",
);
export type PatchDefinition = TypeOf<typeof definition>;

export const patch = object(
  {
    name: must(text(1, 256, "Name of the patch, unique in the list; not `inline`.")),
    description: text(1, 1024, "What the patch is for."),
    enabledIf: text(1, 256, "Go text template; the patch is on when it gives `true`. Unset: on."),
    definitions: list(definition, { max: 100 }, "The patch itself; not together with external."),
    external: object(
      {
        generatePatchesExtension: text(1, 512, "Handler that makes patches."),
        validateTopologyExtension: text(1, 512, "Handler that checks the result."),
        discoverVariablesExtension: text(1, 512, "Handler that tells variables."),
        settings: stringMap("Settings for the handlers."),
      },
      "A patch by an extension. Needs the gate RuntimeSDK.",
    ),
  },
  "One patch.",
);
export type ClusterClassPatch = TypeOf<typeof patch>;
