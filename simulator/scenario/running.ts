// A scenario while it runs: what its steps and its end work with. Here: the type.
import type { KubeObject } from "../../api/meta/object.ts";
import type { Client } from "../../runtime/client.ts";
import type { Faults } from "../faults/faults.ts";
import type { Virtual } from "../virtual.ts";
import type { Owners } from "./owners.ts";
import type { ScenarioSpec } from "./schema.ts";

export interface Running {
  readonly spec: ScenarioSpec;
  readonly virtual: Virtual;
  readonly user: Client;
  readonly faults: Faults;
  readonly owners: Owners;
  /** Names of Machines whose Node was taken away. */
  readonly lost: Set<string>;
  readonly readFile: (name: string) => readonly KubeObject[];
  readonly say: (text: string) => void;
  readonly leftMs: () => number;
}
