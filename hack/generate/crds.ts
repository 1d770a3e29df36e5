// manifests/crd: one CustomResourceDefinition per kind.
import { stringify } from "yaml";
import { customResourceDefinition } from "../../api/crd.ts";
import { allKinds } from "../../api/index.ts";
import type { GeneratedFile } from "./files.ts";

export const crdFiles = (): readonly GeneratedFile[] =>
  allKinds.map((kind) => ({
    path: `manifests/crd/${kind.resource.group}_${kind.resource.plural}.yaml`,
    text: `# Generated from api/ by hack/generate.ts. Do not edit.\n---\n${stringify(customResourceDefinition(kind), {
      aliasDuplicateObjects: false,
      lineWidth: 0,
      sortMapEntries: true,
    })}`,
  }));
