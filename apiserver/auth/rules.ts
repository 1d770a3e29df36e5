// RBAC rules: what one allows, and whether some rules allow all that another does. Here: pure matching. Not here: who has them (rbac.ts).
import type { AuthorizationAttributes } from "../auth-seam.ts";

/** rbac.authorization.k8s.io/v1 PolicyRule. */
export interface Rule {
  readonly verbs?: readonly string[] | null;
  readonly apiGroups?: readonly string[] | null;
  readonly resources?: readonly string[] | null;
  readonly resourceNames?: readonly string[] | null;
  readonly nonResourceURLs?: readonly string[] | null;
}

type Texts = readonly string[] | null | undefined;

const ANY = "*";
const holds = (texts: Texts, wanted: string): boolean => texts?.some((text) => text === ANY || text === wanted) ?? false;

export function allows(rule: Rule, asked: AuthorizationAttributes): boolean {
  if (!holds(rule.verbs, asked.verb)) return false;
  if (!asked.isResource) return rule.nonResourceURLs?.some((url) => coversUrl(url, asked.path)) ?? false;
  if (!holds(rule.apiGroups, asked.group)) return false;
  if (!(rule.resources?.some((r) => coversResource(r, asked.resource, asked.subresource)) ?? false)) return false;
  return isEmpty(rule.resourceNames) || (rule.resourceNames?.includes(asked.name) ?? false);
}

const isEmpty = (texts: Texts): boolean => (texts?.length ?? 0) === 0;

/** `*`, a path, or a path that ends in `*`. */
const coversUrl = (url: string, path: string): boolean =>
  url === ANY || url === path || (url.endsWith("*") && path.startsWith(url.replace(/\*+$/, "")));

function coversResource(resource: string, asked: string, subresource: string): boolean {
  if (resource === ANY) return true;
  if (subresource === "") return resource === asked;
  return resource === `${asked}/${subresource}` || resource === `*/${subresource}`;
}

/** Whether `owned` allow everything that `wanted` do. @returns the parts that they do not allow, one verb, group and resource each */
export function notCovered(owned: readonly Rule[], wanted: readonly Rule[]): readonly Rule[] {
  return wanted.flatMap(atoms).filter((atom) => !owned.some((rule) => coversAtom(rule, atom)));
}

const orNone = (texts: Texts): readonly (string | undefined)[] => (isEmpty(texts) ? [undefined] : (texts ?? []));

/** A rule as rules of one verb, one group, one resource and at most one name. */
function atoms(rule: Rule): readonly Rule[] {
  return (rule.verbs ?? []).flatMap((verb) => [
    ...(rule.apiGroups ?? []).flatMap((group) =>
      (rule.resources ?? []).flatMap((resource) =>
        orNone(rule.resourceNames).map((name) => ({
          verbs: [verb],
          apiGroups: [group],
          resources: [resource],
          ...(name === undefined ? {} : { resourceNames: [name] }),
        })),
      ),
    ),
    ...(rule.nonResourceURLs ?? []).map((url) => ({ verbs: [verb], nonResourceURLs: [url] })),
  ]);
}

function coversAtom(rule: Rule, atom: Rule): boolean {
  const all = (mine: Texts, wanted: Texts, one: (mine: Texts, text: string) => boolean): boolean =>
    (wanted ?? []).every((text) => one(mine, text));
  if (!all(rule.verbs, atom.verbs, holds)) return false;
  if (atom.nonResourceURLs)
    return all(rule.nonResourceURLs, atom.nonResourceURLs, (mine, url) => mine?.some((u) => coversUrl(u, url)) ?? false);
  if (!all(rule.apiGroups, atom.apiGroups, holds) || !all(rule.resources, atom.resources, holdsResource)) return false;
  if (isEmpty(rule.resourceNames)) return true;
  return !isEmpty(atom.resourceNames) && all(rule.resourceNames, atom.resourceNames, (mine, name) => mine?.includes(name) ?? false);
}

function holdsResource(mine: Texts, resource: string): boolean {
  const slash = resource.indexOf("/");
  const anyOf = slash < 0 ? undefined : `*${resource.slice(slash)}`;
  return mine?.some((text) => text === ANY || text === resource || text === anyOf) ?? false;
}

const SHOWN: readonly (readonly [keyof Rule, string])[] = [
  ["apiGroups", "APIGroups"],
  ["resources", "Resources"],
  ["resourceNames", "ResourceNames"],
  ["nonResourceURLs", "NonResourceURLs"],
  ["verbs", "Verbs"],
];

/** A rule as refusals show it. */
export const ruleText = (rule: Rule): string =>
  `{${SHOWN.flatMap(([field, name]) => (isEmpty(rule[field]) ? [] : [`${name}:${JSON.stringify(rule[field])}`])).join(", ")}}`;
