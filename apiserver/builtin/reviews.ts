// Kinds that only answer: may this user do that, whose token is this, who am I. Nothing is stored.
// Not here: deciding (auth/); these ask the server's authenticator and authorizer.
import type { StatusCause } from "../../api/meta/status.ts";
import type { UserInfo } from "../../api/meta/transport.ts";
import type { AuthorizationAttributes } from "../auth-seam.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import { badRequest, fieldInvalid, fieldRequired, invalid } from "../errors.ts";
import type { ApiObject } from "../object.ts";
import type { SubresourceRequest } from "../registry.ts";
import { asFields, asText, type Fields, specOf } from "./strategies/fields.ts";

type Answer = (request: SubresourceRequest) => Promise<object>;

const bodyOf = (request: SubresourceRequest): ApiObject => {
  if (!request.object) throw badRequest("a review needs a body");
  return request.object;
};

function refuse(request: SubresourceRequest, causes: readonly StatusCause[]): void {
  if (causes.length > 0) throw invalid({ group: request.type.group, kind: "" }, "", causes);
}

function attributesOf(spec: Fields, user: UserInfo): AuthorizationAttributes {
  const resource = asFields(spec.resourceAttributes);
  const path = asFields(spec.nonResourceAttributes);
  const isResource = spec.resourceAttributes !== undefined;
  const text = (field: string): string => asText(resource[field]);
  return {
    user,
    isResource,
    verb: isResource ? text("verb") : asText(path.verb),
    path: asText(path.path),
    group: text("group"),
    version: text("version"),
    resource: text("resource"),
    subresource: text("subresource"),
    namespace: text("namespace"),
    name: text("name"),
  };
}

/** Exactly one of the two kinds of attributes. */
function attributeCauses(spec: Fields): readonly StatusCause[] {
  const [resource, path] = [spec.resourceAttributes, spec.nonResourceAttributes];
  if (resource !== undefined && path !== undefined) {
    return [fieldInvalid("spec.nonResourceAttributes", path, "cannot be specified in combination with resourceAttributes")];
  }
  return resource === undefined && path === undefined
    ? [
        fieldInvalid(
          "spec.resourceAttributes",
          path ?? null,
          "exactly one of nonResourceAttributes or resourceAttributes must be specified",
        ),
      ]
    : [];
}

async function decide(request: SubresourceRequest, user: UserInfo): Promise<object> {
  const object = bodyOf(request);
  const decision = await request.server.authorizer.authorize(attributesOf(specOf(object), user));
  const reason = decision.reason === undefined || decision.reason === "" ? {} : { reason: decision.reason };
  return { ...object, status: { allowed: decision.allowed, ...reason } };
}

const userOf = (spec: Fields): UserInfo => ({
  username: asText(spec.user),
  uid: asText(spec.uid),
  groups: (spec.groups as readonly string[] | undefined) ?? [],
  extra: asFields(spec.extra) as Readonly<Record<string, readonly string[]>>,
});

const hasSubject = (spec: Fields): boolean => asText(spec.user) !== "" || ((spec.groups as readonly string[] | undefined) ?? []).length > 0;
const subjectCauses = (spec: Fields): readonly StatusCause[] =>
  hasSubject(spec) ? [] : [fieldInvalid("spec.user", asText(spec.user), "at least one of user or group must be specified")];

export const selfSubjectAccessReview: Answer = async (request) => {
  refuse(request, attributeCauses(specOf(bodyOf(request))));
  return decide(request, request.user);
};

export const subjectAccessReview: Answer = async (request) => {
  const spec = specOf(bodyOf(request));
  refuse(request, [...attributeCauses(spec), ...subjectCauses(spec)]);
  return decide(request, userOf(spec));
};

export const localSubjectAccessReview: Answer = async (request) => {
  const spec = specOf(bodyOf(request));
  refuse(request, [...attributeCauses(spec), ...subjectCauses(spec), ...placeCauses(spec, request.namespace)]);
  return decide(request, userOf(spec));
};

/** It asks about its own namespace only. */
function placeCauses(spec: Fields, namespace: string): readonly StatusCause[] {
  if (spec.nonResourceAttributes !== undefined) {
    return [fieldInvalid("spec.nonResourceAttributes", spec.nonResourceAttributes, "disallowed on this kind of request")];
  }
  const about = asText(asFields(spec.resourceAttributes).namespace);
  return about === namespace ? [] : [fieldInvalid("spec.resourceAttributes.namespace", about, "must match metadata.namespace")];
}

/** Rules of a user in a namespace, as far as RBAC objects tell. */
export const selfSubjectRulesReview: Answer = async (request) => {
  const object = bodyOf(request);
  const namespace = asText(specOf(object).namespace);
  if (namespace === "") throw badRequest("no namespace on request");
  return { ...object, status: { ...rulesOf(request, namespace), incomplete: false } };
};

function appliesTo(subject: Fields, user: UserInfo): boolean {
  const name = asText(subject.name);
  if (subject.kind === "User") return user.username === name;
  if (subject.kind === "Group") return user.groups.includes(name);
  return user.username === `system:serviceaccount:${asText(subject.namespace)}:${name}`;
}

function rulesOf(
  { server, user }: SubresourceRequest,
  namespace: string,
): { resourceRules: readonly object[]; nonResourceRules: readonly object[] } {
  const list = (kind: string, within?: string): readonly ApiObject[] => {
    const type = server.registry.byKind("rbac.authorization.k8s.io", "v1", kind);
    return type ? server.objects.list(type, within) : [];
  };
  const bindings = [...list("ClusterRoleBinding"), ...list("RoleBinding", namespace)];
  const rules = bindings
    .filter((b) => ((b.subjects as readonly Fields[] | undefined) ?? []).some((subject) => appliesTo(subject, user)))
    .flatMap((b) => {
      const ref = asFields(b.roleRef);
      const role = list(asText(ref.kind), ref.kind === "Role" ? namespace : undefined).find((r) => r.metadata.name === ref.name);
      return (role?.rules as readonly Fields[] | null | undefined) ?? [];
    });
  return {
    resourceRules: rules.filter((rule) => rule.nonResourceURLs === undefined),
    nonResourceRules: rules.filter((rule) => rule.nonResourceURLs !== undefined),
  };
}

export const tokenReview: Answer = async (request) => {
  const object = bodyOf(request);
  const token = asText(specOf(object).token);
  if (token === "") refuse(request, [fieldRequired("spec.token")]);
  const outcome = await request.server.authenticator.authenticate({
    method: "GET",
    path: "/",
    query: "",
    headers: { authorization: `Bearer ${token}` },
  });
  if (outcome.outcome === "user") {
    const audiences = specOf(object).audiences;
    return { ...object, status: { authenticated: true, user: wireUser(outcome.user), ...(audiences === undefined ? {} : { audiences }) } };
  }
  const error = outcome.outcome === "refused" ? outcome.reason : "invalid bearer token";
  return { ...object, status: { user: {}, error } };
};

const wireUser = (user: UserInfo): object => ({
  username: user.username,
  ...(user.uid === undefined || user.uid === "" ? {} : { uid: user.uid }),
  ...(user.groups.length === 0 ? {} : { groups: user.groups }),
  ...(user.extra === undefined ? {} : { extra: user.extra }),
});

/** Nothing of the body comes back. */
export const selfSubjectReview: Answer = async ({ type, user, server }) => ({
  kind: type.kind,
  apiVersion: `${type.group}/${type.version}`,
  metadata: { creationTimestamp: timestamp(server.clock.nowMs()) },
  status: { userInfo: wireUser(user) },
});
