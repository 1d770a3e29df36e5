// Acting as somebody else (kubectl --as). Here: the headers and the right to use them. Not here: when that happens (the pipeline).
import type { ApiRequest, UserInfo } from "../../api/meta/transport.ts";
import type { Authorizer } from "../auth-seam.ts";
import { badRequest, forbidden } from "../errors.ts";
import { AUTHENTICATED } from "./authenticators.ts";

const EXTRA = "impersonate-extra-";

/** Whether a request wants to count as somebody else's. */
export function impersonates(request: ApiRequest): boolean {
  for (const header in request.headers) if (header.startsWith("impersonate-")) return true;
  return false;
}

/** @returns the user that the request shall count for: `user` itself without such headers. Throws ApiError 400 or 403. */
export async function impersonated(authorizer: Authorizer, request: ApiRequest, user: UserInfo): Promise<UserInfo> {
  const { headers } = request;
  const name = headers["impersonate-user"] ?? "";
  const groups = list(headers["impersonate-group"]);
  const uid = headers["impersonate-uid"] ?? "";
  const extra = extraOf(headers);
  if (name === "") {
    if (groups.length === 0 && uid === "" && Object.keys(extra).length === 0) return user;
    throw badRequest("requested impersonation without impersonating a user; send Impersonate-User too");
  }
  await mayBe(authorizer, user, name, groups, uid, extra);
  return { username: name, ...(uid === "" ? {} : { uid }), groups: fullGroups(name, groups), extra };
}

const list = (header: string | undefined): readonly string[] =>
  (header ?? "")
    .split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "");

function extraOf(headers: ApiRequest["headers"]): Readonly<Record<string, readonly string[]>> {
  const extra: Record<string, readonly string[]> = {};
  for (const header of Object.keys(headers).sort()) {
    if (header.startsWith(EXTRA)) extra[decodeURIComponent(header.slice(EXTRA.length))] = list(headers[header]);
  }
  return extra;
}

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

function fullGroups(name: string, groups: readonly string[]): readonly string[] {
  const account = SERVICE_ACCOUNT.exec(name);
  const own = groups.length > 0 || !account ? groups : ["system:serviceaccounts", `system:serviceaccounts:${account[1]}`];
  if (name === "system:anonymous") return own.includes("system:unauthenticated") ? own : [...own, "system:unauthenticated"];
  return own.includes(AUTHENTICATED) ? own : [...own, AUTHENTICATED];
}

async function mayBe(
  authorizer: Authorizer,
  user: UserInfo,
  name: string,
  groups: readonly string[],
  uid: string,
  extra: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  const account = SERVICE_ACCOUNT.exec(name);
  const asked: readonly Asked[] = [
    account
      ? { group: "", resource: "serviceaccounts", namespace: account[1] ?? "", name: account[2] ?? "" }
      : { group: "", resource: "users", name },
    ...groups.map((group) => ({ group: "", resource: "groups", name: group })),
    ...(uid === "" ? [] : [{ group: AUTHENTICATION, resource: "uids", name: uid }]),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => ({ group: AUTHENTICATION, resource: "userextras", subresource: key, name: value })),
    ),
  ];
  for (const one of asked) await require(authorizer, user, one);
}

const AUTHENTICATION = "authentication.k8s.io";

interface Asked {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name: string;
}

async function require(authorizer: Authorizer, user: UserInfo, asked: Asked): Promise<void> {
  const { group, resource, subresource = "", namespace = "", name } = asked;
  const attributes = {
    user,
    isResource: true,
    verb: "impersonate",
    path: "",
    version: "v1",
    group,
    resource,
    subresource,
    namespace,
    name,
  };
  const decision = await authorizer.authorize(attributes);
  if (decision.allowed) return;
  const scope = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
  throw forbidden(
    { group, plural: resource },
    name,
    `User "${user.username}" cannot impersonate resource "${resource}" in API group "${group}" ${scope}`,
  );
}
