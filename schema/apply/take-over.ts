// A change of values takes fields from managers that owned them. Here: which, and the conflict when that was not asked for.
// Not here: what the acting manager gains (apply.ts, track-update.ts).
import { type Comparison, compare, exclude, SAME } from "./compare.ts";
import { difference, type FieldSet, forEachMember, intersection, isEmpty, union } from "./field-set.ts";
import { type Manager, managerText, withFields } from "./managers.ts";
import { pathText } from "./path-element.ts";
import type { Typed } from "./typed.ts";
import { ApplyConflict, type FieldConflict, type TypedVersions } from "./types.ts";

export interface TakeOver {
  readonly schemas: TypedVersions;
  readonly apiVersion: string;
  readonly before: object;
  readonly after: object;
  readonly resetFields: FieldSet | undefined;
  readonly force: boolean;
}

export interface TakenOver {
  /** The others with what they kept; those of versions that are not served any more are gone. */
  readonly others: readonly Manager[];
  readonly comparison: Comparison;
}

/** @throws ApplyConflict when values of others would change and force is off */
export function takeOver(others: readonly Manager[], change: TakeOver): TakenOver {
  const comparisons = new Map<Typed, Comparison>();
  const compared = (typed: Typed): Comparison => {
    let c = comparisons.get(typed);
    if (c === undefined) {
      c = change.before === change.after ? SAME : exclude(compare(typed, change.before, change.after), change.resetFields);
      comparisons.set(typed, c);
    }
    return c;
  };
  const known = others.flatMap((m) => {
    const typed = change.schemas(m.apiVersion);
    return typed === undefined ? [] : [{ manager: m, lost: lostBy(m, compared(typed)) }];
  });
  const conflicts = known.filter(({ lost }) => !isEmpty(lost.conflicting));
  if (!change.force && conflicts.length > 0) throw conflictOf(conflicts.map(({ manager, lost }) => [manager, lost.conflicting]));
  const own = change.schemas(change.apiVersion);
  return {
    others: known.map(({ manager, lost }) => withFields(manager, lost.left)),
    comparison: own === undefined ? SAME : compared(own),
  };
}

interface Lost {
  readonly conflicting: FieldSet;
  readonly left: FieldSet;
}

function lostBy(manager: Manager, c: Comparison): Lost {
  const conflicting = intersection(manager.fields, union(c.modified, c.added));
  return { conflicting, left: difference(difference(manager.fields, conflicting), c.removed) };
}

function conflictOf(owners: readonly (readonly [Manager, FieldSet])[]): ApplyConflict {
  const conflicts: FieldConflict[] = [];
  for (const [manager, fields] of owners) {
    forEachMember(fields, (path) => conflicts.push({ manager: managerText(manager), field: pathText(path), path: [...path] }));
  }
  conflicts.sort((a, b) => (a.manager < b.manager ? -1 : a.manager > b.manager ? 1 : a.field < b.field ? -1 : 1));
  return new ApplyConflict(conflictMessage(conflicts), conflicts);
}

function conflictMessage(conflicts: readonly FieldConflict[]): string {
  const [first] = conflicts;
  if (conflicts.length === 1 && first !== undefined) return `Apply failed with 1 conflict: conflict with ${first.manager}: ${first.field}`;
  const byManager = Map.groupBy(conflicts, (c) => c.manager);
  const parts = [...byManager].map(([manager, own]) => [`conflicts with ${manager}:`, ...own.map((c) => `- ${c.field}`)].join("\n"));
  return `Apply failed with ${conflicts.length} conflicts: ${parts.join("\n")}`;
}
