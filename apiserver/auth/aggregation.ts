// ClusterRoles whose rules are those of others, chosen by label. Here: keeping them up to date. Not here: the default ones (bootstrap-roles.ts).
import type { LabelSelector } from "../../api/meta/object.ts";
import type { ServerContext } from "../context.ts";
import { type ApiObject, sameJson } from "../object.ts";
import { selects } from "../builtin/strategies/fields.ts";
import { RBAC_GROUP } from "./rbac.ts";
import type { Rule } from "./rules.ts";

const MANAGER = "clusterrole-aggregation-controller";

/** A background controller. @returns stop */
export function aggregateClusterRoles(server: ServerContext): () => void {
  const type = server.registry.byKind(RBAC_GROUP, "v1", "ClusterRole");
  if (type === undefined) return () => {};
  let due = false;
  let stopped = false;
  const run = async (): Promise<void> => {
    due = false;
    const roles = server.objects.list(type);
    for (const role of roles) {
      const rules = aggregated(role, roles);
      if (stopped || rules === undefined || sameJson(rules, role.rules ?? [])) continue;
      await server.objects.update(type, "", role.metadata.name ?? "", (old) => ({ ...old, rules }), { manager: MANAGER });
    }
  };
  const soon = (): void => {
    if (due || stopped) return;
    due = true;
    // Many roles may change in one turn; one pass sees them all. A pass that changes a role asks for the next.
    server.clock.after(0, () => {
      run().catch((error: unknown) => server.log.warn("cluster roles were not aggregated", { error: String(error) }));
    });
  };
  const stopWatch = server.objects.watch(type, soon);
  soon();
  return () => {
    stopped = true;
    stopWatch();
  };
}

interface AggregationRule {
  readonly clusterRoleSelectors?: readonly LabelSelector[] | null;
}

/** Rules of all chosen roles in the order of their names, each once; undefined for a role that does not aggregate. */
function aggregated(role: ApiObject, roles: readonly ApiObject[]): readonly Rule[] | undefined {
  const selectors = (role.aggregationRule as AggregationRule | null | undefined)?.clusterRoleSelectors;
  if (!selectors) return undefined;
  const rules: Rule[] = [];
  for (const other of roles) {
    if (other === role || !selectors.some((selector) => selects(selector, other.metadata.labels))) continue;
    for (const rule of (other.rules as readonly Rule[] | null | undefined) ?? []) {
      if (!rules.some((known) => sameJson(known, rule))) rules.push(rule);
    }
  }
  return rules;
}
