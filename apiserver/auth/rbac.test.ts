import { describe, expect, it } from "@jest/globals";
import type { UserInfo } from "../../api/meta/transport.ts";
import { ADMIN, someone, type TestServer, testServer } from "../in-process.testing.ts";
import { aggregateClusterRoles, createAuthorization, defaultRbac } from "./index.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const low = someone("low", "team");

async function rbacServer(): Promise<TestServer> {
  let admission: ReturnType<typeof createAuthorization>["admission"] = [];
  const started = await testServer({
    authorizer: (server) => {
      const authorization = createAuthorization(server, ["RBAC"]);
      admission = authorization.admission;
      return authorization.authorizer;
    },
    admission: () => admission,
    objects: defaultRbac(),
    background: [aggregateClusterRoles],
  });
  await started.settle();
  return started;
}

const rules = (verbs: readonly string[], resources: readonly string[]) => [{ verbs, apiGroups: [""], resources }];
const binding = (role: string, subject: object, kind = "Role") => ({
  metadata: { name: role },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: role },
  subjects: [subject],
});
const user = (name: string) => ({ kind: "User", apiGroup: "rbac.authorization.k8s.io", name });
const object = (apiVersion: string, kind: string, fields: object) => ({ apiVersion, kind, ...fields });
const rbac = (kind: string, fields: object) => object("rbac.authorization.k8s.io/v1", kind, fields);

describe("RBAC over requests", () => {
  it("allows what a role bound to the user, its group or service account says, there only", async () => {
    const { send } = await rbacServer();
    expect((await send(low, "GET", CONFIG_MAPS)).code).toBe(403);
    const role = rbac("Role", { metadata: { name: "r" }, rules: rules(["list"], ["configmaps"]) });
    expect((await send(ADMIN, "POST", `${RBAC}/namespaces/default/roles`, role)).code).toBe(201);
    const subjects: readonly [object, UserInfo][] = [
      [user("low"), low],
      [{ kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "team" }, low],
      [{ kind: "ServiceAccount", name: "sa", namespace: "other" }, someone("system:serviceaccount:other:sa")],
    ];
    for (const [subject, as] of subjects) {
      await send(ADMIN, "POST", `${RBAC}/namespaces/default/rolebindings`, rbac("RoleBinding", binding("r", subject)));
      expect((await send(as, "GET", CONFIG_MAPS)).code).toBe(200);
      expect((await send(as, "GET", "/api/v1/namespaces/kube-system/configmaps")).code).toBe(403);
      expect((await send(as, "POST", CONFIG_MAPS, object("v1", "ConfigMap", { metadata: { name: "a" } }))).code).toBe(403);
      await send(ADMIN, "DELETE", `${RBAC}/namespaces/default/rolebindings/r`);
      expect((await send(as, "GET", CONFIG_MAPS)).code).toBe(403);
    }
  });

  it("lets a ClusterRole be bound in a namespace or everywhere", async () => {
    const { send } = await rbacServer();
    await send(ADMIN, "POST", `${RBAC}/namespaces/default/rolebindings`, rbac("RoleBinding", binding("view", user("low"), "ClusterRole")));
    expect((await send(low, "GET", CONFIG_MAPS)).code).toBe(200);
    expect((await send(low, "GET", "/api/v1/configmaps")).code).toBe(403);
    const wide = rbac("ClusterRoleBinding", binding("view", user("low"), "ClusterRole"));
    await send(ADMIN, "POST", `${RBAC}/clusterrolebindings`, wide);
    expect((await send(low, "GET", "/api/v1/configmaps")).code).toBe(200);
    expect((await send(low, "GET", "/api/v1/secrets")).code).toBe(403);
  });

  it("opens to everybody what Kubernetes opens", async () => {
    const { send } = await rbacServer();
    const paths: readonly [string, number, number][] = [
      ["/healthz", 200, 200],
      ["/version", 200, 200],
      ["/metrics", 403, 403],
      ["/apis", 403, 404],
    ];
    for (const [path, anonymous, authenticated] of paths) {
      expect([path, (await send(undefined, "GET", path)).code]).toEqual([path, anonymous]);
      expect([path, (await send(low, "GET", path)).code]).toEqual([path, authenticated]);
    }
  });

  it("says who may not do what", async () => {
    const { send } = await rbacServer();
    const { body } = await send(low, "GET", `${CONFIG_MAPS}/a`);
    expect(body.message).toBe(
      'configmaps "a" is forbidden: User "low" cannot get resource "configmaps" in API group "" in the namespace "default"',
    );
  });

  it("answers access reviews", async () => {
    const { send } = await rbacServer();
    const review = (resource: string, verb: string) =>
      object("authorization.k8s.io/v1", "SelfSubjectAccessReview", {
        spec: { resourceAttributes: { namespace: "default", verb, resource } },
      });
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    await send(ADMIN, "POST", `${RBAC}/namespaces/default/rolebindings`, rbac("RoleBinding", binding("view", user("low"), "ClusterRole")));
    expect((await send(low, "POST", path, review("pods", "get"))).body.status).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "view/default" of ClusterRole "view" to User "low"',
    });
    expect((await send(low, "POST", path, review("pods", "delete"))).body.status).toEqual({ allowed: false });
  });
});

describe("default roles", () => {
  it("aggregate: edit holds what view holds, admin what edit holds, and a new role with the label joins", async () => {
    const { send, settle } = await rbacServer();
    const rulesOf = async (name: string): Promise<readonly string[]> =>
      (await send(ADMIN, "GET", `${RBAC}/clusterroles/${name}`)).body.rules.map((r: object) => JSON.stringify(r));
    const [view, edit, admin] = [await rulesOf("view"), await rulesOf("edit"), await rulesOf("admin")];
    expect(view.length).toBeGreaterThan(5);
    expect(edit).toEqual(expect.arrayContaining([...view]));
    expect(admin).toEqual(expect.arrayContaining([...edit]));
    expect(admin.length).toBeGreaterThan(edit.length);
    const labels = { "rbac.authorization.k8s.io/aggregate-to-view": "true" };
    const added = { verbs: ["get"], apiGroups: ["example.com"], resources: ["gadgets"] };
    await send(ADMIN, "POST", `${RBAC}/clusterroles`, rbac("ClusterRole", { metadata: { name: "x", labels }, rules: [added] }));
    await settle();
    for (const name of ["view", "edit", "admin"]) expect((await rulesOf(name)).filter((r) => r.includes("gadgets"))).toHaveLength(1);
    await send(ADMIN, "DELETE", `${RBAC}/clusterroles/x`);
    await settle();
    expect(await rulesOf("view")).toEqual(view);
  });
});

describe("grants", () => {
  /** low may write roles and bindings, and get config maps. */
  async function granting(): Promise<TestServer> {
    const started = await rbacServer();
    const { send } = started;
    const all = { verbs: ["*"], apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles", "rolebindings"] };
    const held = { verbs: ["get", "list"], apiGroups: [""], resources: ["configmaps"] };
    await send(
      ADMIN,
      "POST",
      `${RBAC}/namespaces/default/roles`,
      rbac("Role", { metadata: { name: "base" }, rules: [{ ...all, verbs: ["create", "update", "get"] }, held] }),
    );
    await send(ADMIN, "POST", `${RBAC}/namespaces/default/rolebindings`, rbac("RoleBinding", binding("base", user("low"))));
    return started;
  }
  const role = (name: string, verbs: readonly string[]) => rbac("Role", { metadata: { name }, rules: rules(verbs, ["configmaps"]) });

  it("are refused beyond what the granter holds", async () => {
    const { send } = await granting();
    expect((await send(low, "POST", `${RBAC}/namespaces/default/roles`, role("a", ["get"]))).code).toBe(201);
    const refused = await send(low, "POST", `${RBAC}/namespaces/default/roles`, role("b", ["get", "delete"]));
    expect(refused.code).toBe(403);
    expect(refused.body.message).toContain(
      'is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["configmaps"], Verbs:["delete"]}',
    );
    const { body } = await send(low, "GET", `${RBAC}/namespaces/default/roles/a`);
    const more = { ...body, rules: rules(["*"], ["configmaps"]) };
    expect((await send(low, "PUT", `${RBAC}/namespaces/default/roles/a`, more)).code).toBe(403);
    expect(
      (await send(low, "PUT", `${RBAC}/namespaces/default/roles/a`, { ...body, metadata: { ...body.metadata, labels: { a: "b" } } })).code,
    ).toBe(200);
  });

  it("count for bindings too, and for roles that do not exist", async () => {
    const { send } = await granting();
    await send(ADMIN, "POST", `${RBAC}/namespaces/default/roles`, role("small", ["get"]));
    await send(ADMIN, "POST", `${RBAC}/namespaces/default/roles`, role("large", ["delete"]));
    const bind = async (name: string, kind = "Role"): Promise<number> =>
      (await send(low, "POST", `${RBAC}/namespaces/default/rolebindings`, rbac("RoleBinding", binding(name, user("x"), kind)))).code;
    expect(await bind("small")).toBe(201);
    expect(await bind("large")).toBe(403);
    expect(await bind("cluster-admin", "ClusterRole")).toBe(403);
    expect(await bind("none")).toBe(404);
  });

  it("are free to who may escalate or bind", async () => {
    const { send } = await granting();
    const free = [{ verbs: ["escalate", "bind"], apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles", "clusterroles"] }];
    await send(ADMIN, "POST", `${RBAC}/namespaces/default/roles`, rbac("Role", { metadata: { name: "free" }, rules: free }));
    await send(ADMIN, "POST", `${RBAC}/namespaces/default/rolebindings`, rbac("RoleBinding", binding("free", user("low"))));
    expect((await send(low, "POST", `${RBAC}/namespaces/default/roles`, role("b", ["delete"]))).code).toBe(201);
    const wide = rbac("RoleBinding", binding("cluster-admin", user("x"), "ClusterRole"));
    expect((await send(low, "POST", `${RBAC}/namespaces/default/rolebindings`, wide)).code).toBe(201);
  });
});

describe("impersonation", () => {
  it("needs the right to be that user, and then counts as that user", async () => {
    const { send } = await rbacServer();
    const who = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const review = object("authentication.k8s.io/v1", "SelfSubjectReview", {});
    const as = { "impersonate-user": "system:serviceaccount:default:sa" };
    expect((await send(low, "POST", who, review, as)).code).toBe(403);
    const { body } = await send(ADMIN, "POST", who, review, { ...as, "impersonate-extra-reason%2fwhy": "test" });
    expect(body.status.userInfo).toEqual({
      username: "system:serviceaccount:default:sa",
      groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
      extra: { "reason/why": ["test"] },
    });
    expect((await send(ADMIN, "GET", CONFIG_MAPS, undefined, as)).code).toBe(403);
    expect((await send(ADMIN, "GET", CONFIG_MAPS, undefined, { ...as, "impersonate-group": "system:masters" })).code).toBe(200);
    expect((await send(ADMIN, "GET", CONFIG_MAPS, undefined, { "impersonate-group": "a" })).code).toBe(400);
  });
});
