// manifests/crd: one CustomResourceDefinition per kind.
import { stringify } from "yaml";
import { customResourceDefinition } from "../../api/crd.ts";
import { allKinds } from "../../api/index.ts";
import type { KindDefinition } from "../../api/kind.ts";
import type { GeneratedFile } from "./files.ts";
import { kustomization } from "./kustomization.ts";

const fileName = ({ resource }: Pick<KindDefinition, "resource">): string => `${resource.group}_${resource.plural}.yaml`;

export const crdFiles = (): readonly GeneratedFile[] => [
  ...allKinds.map((kind) => ({
    path: `manifests/crd/${fileName(kind)}`,
    text: `# Generated from api/ by hack/generate.ts. Do not edit.\n---\n${stringify(customResourceDefinition(kind), {
      aliasDuplicateObjects: false,
      lineWidth: 0,
      sortMapEntries: true,
    })}`,
  })),
  kustomization("manifests/crd", allKinds.map(fileName)),
];
