import { describe, expect, it } from "@jest/globals";
import type { Authenticator, Authorizer } from "../auth-seam.ts";
import { builtinTypes } from "./index.ts";
import { testServer } from "./real/testing.ts";
import type { TokenClaims } from "./token.ts";

const reviews = "/apis/authorization.k8s.io/v1";
const readers: Authorizer = {
  authorize: ({ user, verb, isResource }) =>
    user.groups.includes("system:masters") || (user.username === "jo" && (verb === "get" || !isResource))
      ? { allowed: true }
      : { allowed: false, reason: "not for you" },
};
const tokens: Authenticator = {
  authenticate: (request) =>
    request.headers.authorization === "Bearer good"
      ? { outcome: "user", user: { username: "jo", uid: "7", groups: ["g"] } }
      : { outcome: "refused", reason: "unknown" },
};

describe("access reviews", () => {
  const about = (verb: string) => ({ resourceAttributes: { verb, resource: "pods", namespace: "default" } });

  it.each<[string, string, object, object]>([
    ["of another user, allowed", `${reviews}/subjectaccessreviews`, { user: "jo", ...about("get") }, { allowed: true }],
    [
      "of another user, refused",
      `${reviews}/subjectaccessreviews`,
      { user: "jo", ...about("list") },
      { allowed: false, reason: "not for you" },
    ],
    ["of oneself", `${reviews}/selfsubjectaccessreviews`, about("list"), { allowed: true }],
    ["of a path", `${reviews}/subjectaccessreviews`, { user: "jo", nonResourceAttributes: { path: "/x", verb: "put" } }, { allowed: true }],
    [
      "in a namespace",
      `${reviews}/namespaces/default/localsubjectaccessreviews`,
      { groups: ["system:masters"], ...about("list") },
      { allowed: true },
    ],
  ])("%s", async (_, path, spec, status) => {
    const s = await testServer({ authorizer: readers });
    const answer = await s.call("POST", path, { spec });
    expect([answer.status, answer.body.status]).toEqual([201, status]);
    expect(answer.body.metadata.uid).toBeUndefined(); // nothing is stored
  });

  it.each<[string, object, string]>([
    ["subjectaccessreviews", about("get"), "spec.user"],
    ["subjectaccessreviews", { user: "jo" }, "spec.resourceAttributes"],
    ["subjectaccessreviews", { user: "jo", ...about("get"), nonResourceAttributes: { path: "/" } }, "spec.nonResourceAttributes"],
    ["namespaces/other/localsubjectaccessreviews", { user: "jo", ...about("get") }, "spec.resourceAttributes.namespace"],
  ])("%s refuse %j", async (path, spec, field) => {
    const s = await testServer({ authorizer: readers });
    const answer = await s.call("POST", `${reviews}/${path}`, { spec });
    expect([answer.status, answer.body.details.causes.map((c: { field: string }) => c.field)]).toEqual([422, [field]]);
  });

  it("list the rules of bindings that name the user", async () => {
    const s = await testServer();
    const rbac = "/apis/rbac.authorization.k8s.io/v1";
    const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }];
    await s.call("POST", `${rbac}/clusterroles`, { metadata: { name: "c" }, rules });
    await s.call("POST", `${rbac}/namespaces/default/rolebindings`, {
      metadata: { name: "b" },
      roleRef: { kind: "ClusterRole", name: "c" },
      subjects: [{ kind: "Group", name: "system:masters" }],
    });
    const inDefault = await s.call("POST", `${reviews}/selfsubjectrulesreviews`, { spec: { namespace: "default" } });
    expect(inDefault.body.status).toEqual({ resourceRules: rules, nonResourceRules: [], incomplete: false });
    const elsewhere = await s.call("POST", `${reviews}/selfsubjectrulesreviews`, { spec: { namespace: "kube-system" } });
    expect(elsewhere.body.status.resourceRules).toEqual([]);
    expect((await s.call("POST", `${reviews}/selfsubjectrulesreviews`, { spec: {} })).status).toBe(400);
  });
});

describe("identity", () => {
  it("tells whose a token is, or that it is nobody's", async () => {
    const s = await testServer({ authenticator: tokens });
    const path = "/apis/authentication.k8s.io/v1/tokenreviews";
    const good = await s.call("POST", path, { spec: { token: "good" } });
    expect(good.body.status).toEqual({ authenticated: true, user: { username: "jo", uid: "7", groups: ["g"] } });
    expect((await s.call("POST", path, { spec: { token: "bad" } })).body.status).toEqual({ user: {}, error: "unknown" });
  });
  it("tells who asks", async () => {
    const s = await testServer();
    const { body } = await s.call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {});
    expect(body.status.userInfo).toEqual({ username: "admin", groups: ["system:masters", "system:authenticated"] });
  });
});

describe("tokens of service accounts", () => {
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  const open = async () => {
    const asked: TokenClaims[] = [];
    const issueToken = (claims: TokenClaims) => {
      asked.push(claims);
      return { token: `t-${claims.serviceAccount}`, audiences: claims.audiences.length === 0 ? ["api"] : claims.audiences };
    };
    const s = await testServer({ types: builtinTypes({ issueToken }) });
    await s.call("POST", accounts, { metadata: { name: "bot" } });
    return { s, asked };
  };

  it("are issued for an hour, or as long as asked", async () => {
    const { s, asked } = await open();
    const first = await s.call("POST", `${accounts}/bot/token`, { spec: {} });
    expect([first.status, first.body.status]).toEqual([201, { token: "t-bot", expirationTimestamp: "2026-01-01T01:00:00Z" }]);
    expect(first.body.spec).toMatchObject({ audiences: ["api"], expirationSeconds: 3600 });
    const pod = { kind: "Pod", name: "p", uid: "u" };
    await s.call("POST", `${accounts}/bot/token`, { spec: { expirationSeconds: 600, audiences: ["x"], boundObjectRef: pod } });
    expect(asked[1]).toMatchObject({ serviceAccount: "bot", namespace: "default", audiences: ["x"], bound: pod });
    expect((asked[1]?.expiresAtMs ?? 0) - (asked[1]?.issuedAtMs ?? 0)).toBe(600_000);
  });

  it("are not issued for less than ten minutes, nor for nobody", async () => {
    const { s, asked } = await open();
    expect((await s.call("POST", `${accounts}/bot/token`, { spec: { expirationSeconds: 599 } })).status).toBe(422);
    expect((await s.call("POST", `${accounts}/none/token`, { spec: {} })).status).toBe(404);
    expect(asked).toEqual([]);
  });
});
