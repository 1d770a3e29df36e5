// What a CRD makes the server serve: one descriptor per served version.
// Here: pure translation. Not here: when a CRD is served (controller.ts), the behaviour of custom resources (../requests).
import { apiVersionOfType, ALL_VERBS, type ResourceType, type Subresources } from "../registry.ts";
import { type ApiObject, sameJson } from "../object.ts";
import { compilePath } from "../table/jsonpath.ts";
import { customColumns } from "../table/custom.ts";
import { customStrategy } from "./custom-strategy.ts";
import { type CrdScale, type CrdSpec, type CrdVersion, hasCondition, specOf, statusOf } from "./definition.ts";

/** A resource that goes takes no new objects. */
const ENDING_VERBS = ALL_VERBS.filter((verb) => verb !== "create");

function scaleOf(scale: CrdScale | undefined): Pick<Subresources, "scale"> {
  if (!scale) return {};
  const { specReplicasPath = "", statusReplicasPath = "", labelSelectorPath } = scale;
  return { scale: { specReplicasPath, statusReplicasPath, ...(labelSelectorPath ? { labelSelectorPath } : {}) } };
}

function selectable(version: CrdVersion): ResourceType["selectableFields"] {
  const fields = version.selectableFields ?? [];
  if (fields.length === 0) return undefined;
  return Object.fromEntries(
    fields.map(({ jsonPath }) => {
      const query = compilePath(jsonPath);
      const text = (object: ApiObject): string => {
        const [value] = query(object);
        return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
      };
      return [jsonPath.replace(/^\./, ""), text];
    }),
  );
}

function deprecation(spec: CrdSpec, version: CrdVersion): Pick<ResourceType, "deprecationWarning"> {
  if (version.deprecated !== true) return {};
  return { deprecationWarning: version.deprecationWarning ?? `${spec.group}/${version.name} ${spec.names.kind} is deprecated` };
}

/** @param before the type of the same version from an earlier state, whose schema is kept when it is equal: it is compiled already */
function typeOf(crd: ApiObject, version: CrdVersion, before: ResourceType | undefined): ResourceType {
  const spec = specOf(crd);
  const accepted = statusOf(crd).acceptedNames;
  // Accepted names are what is served; a CRD that is asked for before (its own objects at a start) has those of its spec.
  const names = accepted.kind === "" ? spec.names : accepted;
  const schema = version.schema?.openAPIV3Schema;
  const storage = spec.versions.find((v) => v.storage)?.name ?? version.name;
  return {
    group: spec.group,
    version: version.name,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: spec.scope === "Namespaced",
    verbs: hasCondition(crd, "Terminating") ? ENDING_VERBS : ALL_VERBS,
    storageKey: `${spec.group}/${names.plural}`,
    storageVersion: apiVersionOfType({ group: spec.group, version: storage }),
    ...(schema ? { schema: before?.schema && sameJson(before.schema, schema) ? before.schema : schema } : {}),
    custom: true,
    subresources: { ...(version.subresources?.status ? { status: true } : {}), ...scaleOf(version.subresources?.scale) },
    columns: customColumns(version.additionalPrinterColumns),
    ...(version.selectableFields ? { selectableFields: selectable(version) } : {}),
    strategy: customStrategy(version.subresources?.scale),
    ...deprecation(spec, version),
  };
}

/** Types of all served versions, in the order of the CRD. @param before types of the same CRD that are served now */
export function typesOf(crd: ApiObject, before: readonly ResourceType[] = []): readonly ResourceType[] {
  return specOf(crd)
    .versions.filter((version) => version.served)
    .map((version) =>
      typeOf(
        crd,
        version,
        before.find((type) => type.version === version.name),
      ),
    );
}

/** The type in which objects are stored, also when that version is not served. */
export function storageType(crd: ApiObject): ResourceType | undefined {
  const version = specOf(crd).versions.find((v) => v.storage);
  return version && typeOf(crd, version, undefined);
}
