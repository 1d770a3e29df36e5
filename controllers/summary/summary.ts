// Many conditions in one. Here: summary (many types of one object) and aggregate (one type of many objects), as pure functions.
// Not here: which conditions a kind sums up (its conditions.ts). Source: spec/controllers/machinedeployment.md section 0.5.
import type { Condition } from "../../api/meta/object.ts";
import type { Finding } from "../../runtime/conditions.ts";

/** Issue: False (True for negative polarity). Order is weight. */
export type Weight = "issue" | "unknown" | "info";

export interface SummaryPart {
  readonly type: string;
  /** True is bad. */
  readonly negative?: boolean;
  /** May be missing without a word. */
  readonly optional?: boolean;
  /** Parts of a group that say the same become one bullet under this heading. */
  readonly group?: string;
  /** Replaces what the condition says, before it is weighed. */
  readonly override?: (condition: Condition) => { readonly weight?: Weight; readonly message?: string };
}

export interface Reasons {
  readonly good: string;
  readonly bad: string;
  readonly unknown: string;
}

const weightOf = (status: Condition["status"], negative = false): Weight =>
  status === "Unknown" ? "unknown" : (status === "False") !== negative ? "issue" : "info";

const RANK: Readonly<Record<Weight, number>> = { issue: 0, unknown: 1, info: 2 };

interface Weighed {
  readonly type: string;
  readonly group?: string;
  readonly weight: Weight;
  readonly text: string;
}

/** One condition over several types of the same object. A listed type that is missing counts as unknown unless it is optional. */
export function summary(
  type: string,
  parts: readonly SummaryPart[],
  conditions: readonly Condition[] | undefined,
  reasons: Reasons,
): Finding {
  const weighed = parts.flatMap((part) => weigh(part, conditions));
  const worst = worstOf(weighed);
  const shown = worst === "info" ? weighed.filter((w) => w.text !== "") : weighed.filter((w) => w.weight !== "info");
  const message = folded(shown)
    .map((w) => bullet(w.type, w.text))
    .join("\n");
  return { type, ...outcome(worst, reasons), message };
}

function weigh(part: SummaryPart, conditions: readonly Condition[] | undefined): readonly Weighed[] {
  const condition = conditions?.find((c) => c.type === part.type);
  if (!condition) {
    if (part.optional) return [];
    return [{ type: part.type, group: part.group, weight: "unknown", text: "Condition not yet reported" }];
  }
  const override = part.override?.(condition);
  const weight = override?.weight ?? weightOf(condition.status, part.negative);
  const message = override?.message ?? condition.message;
  const text = message !== "" || weight === "info" ? message : `${condition.reason}`;
  return [{ type: part.type, group: part.group, weight, text }];
}

/** Groups whose members all say the same, and are more than one, shrink to one entry at the place of the first. */
function folded(items: readonly Weighed[]): readonly Weighed[] {
  return items.flatMap((item) => {
    if (item.group === undefined) return [item];
    const members = items.filter((other) => other.group === item.group);
    if (members.length < 2 || members.some((other) => other.text !== item.text)) return [item];
    return members[0] === item ? [{ ...item, type: item.group }] : [];
  });
}

const worstOf = (items: readonly { readonly weight: Weight }[]): Weight =>
  items.some((w) => w.weight === "issue") ? "issue" : items.some((w) => w.weight === "unknown") ? "unknown" : "info";

const outcome = (worst: Weight, reasons: Reasons): Pick<Finding, "status" | "reason"> =>
  worst === "issue"
    ? { status: "False", reason: reasons.bad }
    : worst === "unknown"
      ? { status: "Unknown", reason: reasons.unknown }
      : { status: "True", reason: reasons.good };

/** A bullet; a text of several lines, or one that is a list already, goes indented below the heading. */
export function bullet(heading: string, text: string): string {
  if (text === "") return `* ${heading}`;
  if (!text.includes("\n") && !text.startsWith("* ")) return `* ${heading}: ${text}`;
  return `* ${heading}:\n${text
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n")}`;
}

export interface AggregateSource {
  readonly name: string;
  /** When it differs from the others'. */
  readonly kind?: string;
  /** Named first, and sorts its group first. */
  readonly isControlPlane?: boolean;
  /** The condition, nothing when the object does not report it. */
  readonly condition: Condition | undefined;
}

export interface AggregateOptions {
  readonly type: string;
  /** Kind of the sources for the text, e.g. `Machine`; plural by `s`. */
  readonly kind: string;
  /** True is bad. */
  readonly negative?: boolean;
  /** Type of the condition that is missing, for the text. Default `type`. */
  readonly sourceType?: string;
  readonly reasons: Reasons;
}

interface Group {
  readonly kind: string;
  readonly weight: Weight;
  readonly text: string;
  readonly sources: AggregateSource[];
}

const GROUPS_MAX = 3;
const NAMES_MAX = 3;

/** One condition over the same type of several objects. Callers handle "no objects". For negative types the status is turned round. */
export function aggregate(sources: readonly AggregateSource[], options: AggregateOptions): Finding {
  const groups = groupsOf(sources, options);
  const worst = worstOf(groups);
  const shown = worst === "info" ? groups : groups.filter((g) => g.weight !== "info");
  const lines = shown.slice(0, GROUPS_MAX).map((g) => bullet(namesOf(g), g.text));
  const rest = shown.slice(GROUPS_MAX);
  if (rest.length > 0) lines.push(...restLines(rest, options.kind));
  const result = outcome(worst, options.reasons);
  return {
    type: options.type,
    reason: result.reason,
    status: options.negative ? turned(result.status) : result.status,
    message: lines.join("\n"),
  };
}

const turned = (status: Condition["status"]): Condition["status"] =>
  status === "True" ? "False" : status === "False" ? "True" : "Unknown";

/** Good conditions without a text, which are the rule in a large fleet, are in no group. */
function groupsOf(sources: readonly AggregateSource[], options: AggregateOptions): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const source of sources) {
    const { condition } = source;
    const weight = condition ? weightOf(condition.status, options.negative) : "unknown";
    const text = condition
      ? condition.message || (weight === "info" ? "" : condition.reason)
      : `Condition ${options.sourceType ?? options.type} not yet reported`;
    if (weight === "info" && text === "") continue;
    const kind = source.kind ?? options.kind;
    const key = `${weight}\n${kind}\n${text}`;
    const group = groups.get(key);
    if (group) group.sources.push(source);
    else groups.set(key, { kind, weight, text, sources: [source] });
  }
  for (const group of groups.values()) group.sources.sort(bySource);
  return [...groups.values()].sort(byGroup);
}

const bySource = (a: AggregateSource, b: AggregateSource): number =>
  Number(b.isControlPlane ?? false) - Number(a.isControlPlane ?? false) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

const hasControlPlane = (g: Group): number => (g.sources.some((s) => s.isControlPlane) ? 0 : 1);
const byGroup = (a: Group, b: Group): number =>
  hasControlPlane(a) - hasControlPlane(b) ||
  RANK[a.weight] - RANK[b.weight] ||
  b.sources.length - a.sources.length ||
  (joined(a) < joined(b) ? -1 : 1);
const joined = (g: Group): string => g.sources.map((s) => s.name).join(",");

function namesOf({ sources, kind }: Group): string {
  const names = sources.slice(0, NAMES_MAX).map((s) => s.name);
  const more = sources.length - names.length;
  const list = more > 0 ? `${names.join(", ")}, ... (${more} more)` : names.join(", ");
  return `${sources.length > 1 ? `${kind}s` : kind} ${list}`;
}

function restLines(rest: readonly Group[], kind: string): readonly string[] {
  const count = (weight: Weight): number => rest.filter((g) => g.weight === weight).reduce((sum, g) => sum + g.sources.length, 0);
  const words: readonly (readonly [Weight, string])[] = [
    ["issue", "with other issues"],
    ["unknown", "with status unknown"],
    ["info", "with additional info"],
  ];
  return words.flatMap(([weight, text]) => {
    const n = count(weight);
    return n === 0 ? [] : [`And ${n} ${n === 1 ? kind : `${kind}s`} ${text}`];
  });
}
