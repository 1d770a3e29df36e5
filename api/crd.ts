// CustomResourceDefinitions of the kinds. Here: from a KindDefinition to the object. Not here: files (hack/generate.ts).
import type { CustomResourceDefinition, CustomResourceVersion } from "./core/groups.ts";
import type { KindDefinition } from "./kind.ts";
import { contractVersionLabel, providerNameLabel } from "./names.ts";

/** The CRD that serves a kind: one version, served and stored. */
export function customResourceDefinition(kind: KindDefinition): CustomResourceDefinition {
  const { group, version, plural } = kind.resource;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${group}`,
      labels: { [providerNameLabel]: kind.provider, [contractVersionLabel]: version },
    },
    spec: {
      group,
      names: {
        categories: kind.categories,
        kind: kind.resource.kind,
        listKind: kind.listKind,
        plural,
        ...(kind.shortNames.length > 0 ? { shortNames: kind.shortNames } : {}),
        singular: kind.singular,
      },
      scope: kind.resource.namespaced ? "Namespaced" : "Cluster",
      versions: [versionOf(kind)],
    },
  };
}

function versionOf(kind: KindDefinition): CustomResourceVersion {
  const { statusSubresource, scale } = kind;
  return {
    name: kind.resource.version,
    served: true,
    storage: true,
    additionalPrinterColumns: kind.columns,
    schema: { openAPIV3Schema: kind.schema },
    ...(statusSubresource || scale ? { subresources: { ...(scale ? { scale } : {}), ...(statusSubresource ? { status: {} } : {}) } } : {}),
  };
}
