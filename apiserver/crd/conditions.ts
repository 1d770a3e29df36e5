// Names and conditions of CRDs: which names a CRD gets among those of its group, and when it is established.
// Here: pure functions. Not here: writing them (controller.ts). Source: apiextensions naming, establishing and approval controllers.
import type { ApiObject } from "../object.ts";
import { type CrdCondition, type CrdNames, hasCondition, specOf, statusOf, withCondition } from "./definition.ts";

interface Taken {
  /** Plurals, singulars and short names of the others. */
  readonly resources: ReadonlySet<string>;
  /** Kinds and list kinds of the others. */
  readonly kinds: ReadonlySet<string>;
}

const present = (names: readonly (string | undefined)[]): string[] => names.filter((name) => name !== undefined && name !== "") as string[];

function takenBy(others: readonly ApiObject[]): Taken {
  const accepted = others.map((other) => statusOf(other).acceptedNames);
  return {
    resources: new Set(accepted.flatMap((names) => present([names.plural, names.singular, ...(names.shortNames ?? [])]))),
    kinds: new Set(accepted.flatMap((names) => present([names.kind, names.listKind]))),
  };
}

type NewCondition = Omit<CrdCondition, "lastTransitionTime">;

/** @param others the other CRDs of the group */
function acceptNames(crd: ApiObject, others: readonly ApiObject[]): { readonly names: CrdNames; readonly condition: NewCondition } {
  const wanted = specOf(crd).names;
  const accepted = { ...statusOf(crd).acceptedNames };
  const { resources, kinds } = takenBy(others);
  const names: { -readonly [K in keyof CrdNames]: CrdNames[K] } = { plural: accepted.plural, kind: accepted.kind };
  // The last clash gives the reason, as upstream overwrites the condition.
  let clash: { readonly reason: string; readonly message: string } | undefined;
  const take = (field: "plural" | "singular" | "kind" | "listKind", taken: ReadonlySet<string>, reason: string): void => {
    const name = wanted[field] ?? "";
    const held = accepted[field] ?? "";
    if (name === held || name === "" || !taken.has(name)) names[field] = name;
    else {
      if (held !== "") names[field] = held;
      clash = { reason, message: `${JSON.stringify(name)} is already in use` };
    }
  };
  take("plural", resources, "PluralConflict");
  take("singular", resources, "SingularConflict");
  const short = wanted.shortNames ?? [];
  const doubled = short.filter((name) => !(accepted.shortNames ?? []).includes(name) && resources.has(name));
  if (doubled.length === 0) names.shortNames = short;
  else {
    names.shortNames = accepted.shortNames;
    clash = { reason: "ShortNamesConflict", message: doubled.map((name) => `${JSON.stringify(name)} is already in use`).join(", ") };
  }
  take("kind", kinds, "KindConflict");
  take("listKind", kinds, "ListKindConflict");
  if (wanted.categories !== undefined && wanted.categories.length > 0) names.categories = wanted.categories;
  return {
    names: tidy(names),
    condition: clash
      ? { type: "NamesAccepted", status: "False", ...clash }
      : { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" },
  };
}

/** Without what v1 leaves out when it is empty. */
function tidy(names: CrdNames): CrdNames {
  const { plural, kind, singular, listKind, shortNames, categories } = names;
  return {
    plural,
    kind,
    ...(singular ? { singular } : {}),
    ...(listKind ? { listKind } : {}),
    ...(shortNames && shortNames.length > 0 ? { shortNames } : {}),
    ...(categories && categories.length > 0 ? { categories } : {}),
  };
}

const APPROVED = "api-approved.kubernetes.io";

/** Groups that only the community gives names in. */
const isProtectedGroup = (group: string): boolean =>
  group === "k8s.io" || group === "kubernetes.io" || group.endsWith(".k8s.io") || group.endsWith(".kubernetes.io");

/** @returns undefined for a group that needs no approval */
export function approval(crd: ApiObject): NewCondition | undefined {
  if (!isProtectedGroup(specOf(crd).group)) return undefined;
  const type = "KubernetesAPIApprovalPolicyConformant";
  const text = crd.metadata.annotations?.[APPROVED] ?? "";
  if (text === "")
    return {
      type,
      status: "False",
      reason: "MissingAnnotation",
      message: `protected groups must have approval annotation "${APPROVED}", see https://github.com/kubernetes/enhancements/pull/1111`,
    };
  if (text.startsWith("unapproved")) return { type, status: "False", reason: "UnapprovedAnnotation", message: `not approved: "${text}"` };
  if (/^https?:\/\/[^/]+/.test(text)) return { type, status: "True", reason: "ApprovedAnnotation", message: `approved in ${text}` };
  return {
    type,
    status: "False",
    reason: "InvalidAnnotation",
    message: `protected groups must have approval annotation "${APPROVED}" with either a URL or a reason starting with "unapproved"`,
  };
}

/** The status that names and conditions give a CRD. @param others the other CRDs, of any group */
export function nextStatus(
  crd: ApiObject,
  others: readonly ApiObject[],
  nowMs: number,
): Pick<ReturnType<typeof statusOf>, "acceptedNames" | "conditions"> {
  const { group } = specOf(crd);
  const { names, condition } = acceptNames(
    crd,
    others.filter((other) => specOf(other).group === group),
  );
  let conditions = withCondition(statusOf(crd).conditions, condition, nowMs);
  const approved = approval(crd);
  if (!hasCondition(crd, "Established")) {
    const established: NewCondition =
      condition.status === "True"
        ? { type: "Established", status: "True", reason: "InitialNamesAccepted", message: "the initial names have been accepted" }
        : { type: "Established", status: "False", reason: "NotAccepted", message: "not all names are accepted" };
    conditions = withCondition(conditions, established, nowMs);
  }
  if (approved) conditions = withCondition(conditions, approved, nowMs);
  return { acceptedNames: names, conditions };
}
