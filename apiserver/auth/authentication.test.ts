import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import type { ApiRequest } from "../../api/meta/transport.ts";
import { seededRandom } from "../../runtime/base/random.ts";
import { createTokenSigner } from "../real/token-signer.ts";
import { ADMIN, someone, type TestServer, testServer } from "../in-process.testing.ts";
import { authenticators, sameSecret, serviceAccountTokens, staticTokens, tokenIssuer } from "./index.ts";
import { signToken, unverifiedClaims } from "./jwt.ts";

const request = (headers: ApiRequest["headers"]): ApiRequest => ({ method: "GET", path: "/", query: "", headers });
const pem = (type: "ec" | "rsa"): string => {
  const pair = type === "ec" ? generateKeyPairSync("ec", { namedCurve: "P-256" }) : generateKeyPairSync("rsa", { modulusLength: 2048 });
  return pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
};

describe("bearer tokens", () => {
  const low = someone("low");
  const authenticator = authenticators(staticTokens(new Map([["good", { username: "low", groups: [] }]])));
  const cases: readonly [ApiRequest["headers"], object][] = [
    [{}, { outcome: "none" }],
    [{ authorization: "Basic abc" }, { outcome: "none" }],
    [{ authorization: "Bearer " }, { outcome: "none" }],
    [{ authorization: "Bearer good" }, { outcome: "user", user: low }],
    [{ authorization: "bearer   good" }, { outcome: "user", user: low }],
    [{ authorization: "Bearer goo" }, { outcome: "refused", reason: "invalid bearer token" }],
    [{ authorization: "Bearer good2" }, { outcome: "refused", reason: "invalid bearer token" }],
    [{ "sec-websocket-protocol": "v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.Z29vZA" }, { outcome: "user", user: low }],
  ];
  it.each(cases)("%j", async (headers, outcome) => expect(await authenticator.authenticate(request(headers))).toEqual(outcome));

  it.each([
    ["a", "a", true],
    ["a", "b", false],
    ["a", "aa", false],
    ["aa", "a", false],
    ["", "a", false],
    ["", "", true],
  ])("compares %j with %j: %j", (a, b, same) => expect(sameSecret(a, b)).toBe(same));
});

describe.each(["ec", "rsa"] as const)("service account tokens signed with %s keys", (type) => {
  const signer = createTokenSigner(pem(type));
  const options = { signer, random: seededRandom(7) };

  async function started(): Promise<TestServer & { token(seconds?: number, spec?: object): Promise<string> }> {
    const test = await testServer({ authenticator: serviceAccountTokens(options) }, { issueToken: tokenIssuer(options) });
    const { send } = test;
    await send(ADMIN, "POST", "/api/v1/namespaces/default/serviceaccounts", {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "sa" },
    });
    const token = async (expirationSeconds = 600, spec: object = {}): Promise<string> => {
      const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds, ...spec } };
      const answer = await send(ADMIN, "POST", "/api/v1/namespaces/default/serviceaccounts/sa/token", body);
      expect(answer.code).toBe(201);
      return answer.body.status.token;
    };
    return { ...test, token };
  }
  const use = ({ send }: TestServer, token: string) =>
    send(
      undefined,
      "POST",
      "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
      { authorization: `Bearer ${token}` },
    );

  it("name their account while they live", async () => {
    const test = await started();
    const token = await test.token();
    const { body } = await use(test, token);
    expect(body.status.userInfo).toMatchObject({
      username: "system:serviceaccount:default:sa",
      groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
      extra: { "authentication.kubernetes.io/credential-id": [expect.stringMatching(/^JTI=[0-9a-f-]{36}$/)] },
    });
    test.clock.after(599_000, () => {});
    test.clock.runNext();
    expect((await use(test, token)).code).toBe(201);
    test.clock.after(1_000, () => {});
    test.clock.runNext();
    expect((await use(test, token)).code).toBe(401);
  });

  it("end with their account, even when one of the same name follows", async () => {
    const test = await started();
    const token = await test.token();
    await test.send(ADMIN, "DELETE", "/api/v1/namespaces/default/serviceaccounts/sa");
    expect((await use(test, token)).code).toBe(401);
    const again = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "sa" } };
    await test.send(ADMIN, "POST", "/api/v1/namespaces/default/serviceaccounts", again);
    expect((await use(test, token)).code).toBe(401);
  });

  it("end with the object they are bound to", async () => {
    const test = await started();
    const secret = await test.send(ADMIN, "POST", "/api/v1/namespaces/default/secrets", {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "s" },
    });
    const token = await test.token(600, { boundObjectRef: { apiVersion: "v1", kind: "Secret", name: "s", uid: secret.body.metadata.uid } });
    expect((await use(test, token)).code).toBe(201);
    await test.send(ADMIN, "DELETE", "/api/v1/namespaces/default/secrets/s");
    expect((await use(test, token)).code).toBe(401);
  });

  it("are good for their audience only, and not when changed", async () => {
    const test = await started();
    expect((await use(test, await test.token(600, { audiences: ["vault"] }))).code).toBe(401);
    const token = await test.token();
    const [head, body, signature] = token.split(".");
    const claims = { ...unverifiedClaims(token), sub: "system:serviceaccount:kube-system:admin" };
    const forged = Buffer.from(JSON.stringify(claims)).toString("base64url");
    const none = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
    const other = signToken(createTokenSigner(pem(type)), unverifiedClaims(token) ?? {});
    for (const bad of [`${head}.${forged}.${signature}`, `${none}.${body}.`, `${none}.${body}.${signature}`, `${head}.${body}.AA`, other]) {
      expect((await use(test, bad)).code).toBe(401);
    }
    expect((await use(test, token)).code).toBe(201);
  });
});
