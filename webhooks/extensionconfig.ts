// ExtensionConfig: defaults and validation. Source: spec/api/extensionconfig.md section 4.
import { extensionConfigKind } from "../api/extensionconfig.ts";
import { type FieldError, forbidden, invalid, required } from "../schema/field.ts";
import { dns1035Label, dns1123Label } from "../schema/names.ts";
import { selectorProblem } from "./checks.ts";
import { at, isZero, plain, textAt, withAt, withoutAt } from "./draft.ts";
import { type Draft, Refusal, type RuleSet, type WebhookContext } from "./rule-set.ts";

const CLIENT = ["spec", "clientConfig"];

function defaults(object: Draft): Draft {
  let next = at(object, "spec", "namespaceSelector") == null ? withAt(object, ["spec", "namespaceSelector"], {}) : object;
  // As upstream: an empty url reads as none, so that what is missing is said instead of a length.
  if (at(next, ...CLIENT, "url") === "") next = withoutAt(next, [...CLIENT, "url"]);
  if (plain(at(next, ...CLIENT)) && isZero(at(next, ...CLIENT))) next = withoutAt(next, CLIENT);
  const service = at(next, ...CLIENT, "service");
  return plain(service) && at(service, "port") == null ? withAt(next, [...CLIENT, "service", "port"], 443) : next;
}

/** Go's request-URI form: an absolute URI, or an absolute path. */
const isRequestUri = (text: string): boolean =>
  (/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^\s]+$/.test(text) || /^\/[^\s]*$/.test(text)) && !/%(?![0-9A-Fa-f]{2})/.test(text);

function urlErrors(url: string, path: string): readonly FieldError[] {
  if (!isRequestUri(url)) return [invalid(path, url, "must be a URL such as https://host:9443")];
  return /^https:/i.test(url) ? [] : [invalid(path, url, "must use https")];
}

function serviceErrors(service: unknown, path: string): readonly FieldError[] {
  const [name, namespace, at_] = [textAt(service, "name") ?? "", textAt(service, "namespace") ?? "", textAt(service, "path")];
  const port = at(service, "port");
  return [
    ...(name === "" ? [required(`${path}.name`)] : dns1035Label(name).map((p) => invalid(`${path}.name`, name, p))),
    ...(namespace === ""
      ? [required(`${path}.namespace`)]
      : dns1123Label(namespace).map((p) => invalid(`${path}.namespace`, namespace, p))),
    ...(at_ !== undefined && !isRequestUri(at_) ? [invalid(`${path}.path`, at_, "must be a path of a URL")] : []),
    ...(at_ !== undefined && !at_.startsWith("/") ? [invalid(`${path}.path`, at_, "must begin with /")] : []),
    ...(typeof port === "number" && (port < 1 || port > 65_535) ? [invalid(`${path}.port`, port, "must be 1 to 65535")] : []),
  ];
}

function validate(object: Draft, context: WebhookContext): readonly FieldError[] {
  if (!context.gate("RuntimeSDK")) throw new Refusal(403, "spec: Forbidden: ExtensionConfigs need the feature gate RuntimeSDK");
  const client = at(object, ...CLIENT);
  const [url, service] = [textAt(client, "url"), plain(at(client, "service"))];
  const name = object.metadata.name ?? "";
  const selector = at(object, "spec", "namespaceSelector");
  const problem = selectorProblem(selector);
  return [
    ...dns1123Label(name).map((p) => invalid("metadata.name", name, p)),
    ...(url === undefined && !service ? [required("spec.clientConfig", "give url or service")] : []),
    ...(url !== undefined && service ? [forbidden("spec.clientConfig", "give url or service, not both")] : []),
    ...(url === undefined ? [] : urlErrors(url, "spec.clientConfig.url")),
    ...(service ? serviceErrors(service, "spec.clientConfig.service") : []),
    ...(selector == null ? [required("spec.namespaceSelector")] : problem ? [invalid("spec.namespaceSelector", selector, problem)] : []),
  ];
}

export const extensionConfigRules: RuleSet = { kind: extensionConfigKind, operations: ["create", "update"], defaults, validate };
