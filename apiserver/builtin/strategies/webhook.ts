// Webhook configurations: names, client configuration, rules. Not here: calling them (admission/).
import type { StatusCause } from "../../../api/meta/status.ts";
import { fieldDuplicate, fieldInvalid, fieldRequired } from "../../errors.ts";
import type { ApiObject } from "../../object.ts";
import type { Strategy } from "../../registry.ts";
import { dnsSubdomainErrors } from "../../requests/names.ts";
import { asFields, asList, asNumber, asText, type Fields } from "./fields.ts";

const VERSIONS: ReadonlySet<unknown> = new Set(["v1", "v1beta1"]);

function clientConfig(config: Fields, at: string): readonly StatusCause[] {
  const { url, service } = config;
  if ((url === undefined) === (service === undefined)) return [fieldRequired(at, "exactly one of url or service is required")];
  if (typeof url === "string") return urlCauses(url, `${at}.url`);
  const { path, port } = asFields(service);
  const causes: StatusCause[] = [];
  if (typeof path === "string" && !path.startsWith("/")) causes.push(fieldInvalid(`${at}.service.path`, path, "must start with a '/'"));
  if (typeof port === "number" && (port < 1 || port > 65_535)) {
    causes.push(fieldInvalid(`${at}.service.port`, port, "port is not valid: must be between 1 and 65535, inclusive"));
  }
  return causes;
}

function urlCauses(url: string, at: string): readonly StatusCause[] {
  const form = "; desired format: https://host[/path]";
  const match = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/i.exec(url);
  if (!match) return [fieldRequired(at, `url must be a valid URL${form}`)];
  const [, scheme, authority = "", , query, fragment] = match;
  const causes: StatusCause[] = [];
  if (scheme !== "https") causes.push(fieldInvalid(at, scheme, `'https' is the only allowed URL scheme${form}`));
  if (authority === "") causes.push(fieldInvalid(at, authority, `host must be specified${form}`));
  if (authority.includes("@")) causes.push(fieldInvalid(at, authority, "user information is not permitted in the URL"));
  if (fragment !== undefined) causes.push(fieldInvalid(at, fragment, "fragments are not permitted in the URL"));
  if (query !== undefined) causes.push(fieldInvalid(at, query, "query parameters are not permitted in the URL"));
  return causes;
}

function rules(list: readonly Fields[], at: string): readonly StatusCause[] {
  const wild = (values: unknown, field: string, what: string): readonly StatusCause[] => {
    const given = Array.isArray(values) ? (values as readonly unknown[]) : [];
    return given.length > 1 && given.includes("*") ? [fieldInvalid(field, given, `if '*' is present, must not specify other ${what}`)] : [];
  };
  return list.flatMap((rule, i) => [
    ...wild(rule.apiGroups, `${at}[${i}].apiGroups`, "API groups"),
    ...wild(rule.apiVersions, `${at}[${i}].apiVersions`, "API versions"),
    ...wild(rule.operations, `${at}[${i}].operations`, "operations"),
  ]);
}

function validateConfiguration(object: ApiObject): readonly StatusCause[] {
  const hooks = asList(object.webhooks);
  return hooks.flatMap((hook, i) => {
    const at = `webhooks[${i}]`;
    const name = asText(hook.name);
    const causes: StatusCause[] = [];
    if (name !== "" && (name.split(".").length < 3 || dnsSubdomainErrors(name).length > 0)) {
      causes.push(fieldInvalid(`${at}.name`, name, "should be a domain with at least three segments separated by dots"));
    }
    if (hooks.findIndex((other) => other.name === hook.name) < i) causes.push(fieldDuplicate(`${at}.name`, name));
    const versions = Array.isArray(hook.admissionReviewVersions) ? (hook.admissionReviewVersions as readonly unknown[]) : [];
    if (versions.length > 0 && !versions.some((version) => VERSIONS.has(version))) {
      causes.push(fieldInvalid(`${at}.admissionReviewVersions`, versions, "must include at least one of v1, v1beta1"));
    }
    const seconds = asNumber(hook.timeoutSeconds, 10);
    if (seconds < 1 || seconds > 30)
      causes.push(fieldInvalid(`${at}.timeoutSeconds`, seconds, "the timeout value must be between 1 and 30 seconds"));
    return [...causes, ...clientConfig(asFields(hook.clientConfig), `${at}.clientConfig`), ...rules(asList(hook.rules), `${at}.rules`)];
  });
}

export const webhookConfigurationStrategy: Strategy = {
  validate: validateConfiguration,
  validateUpdate: validateConfiguration,
  generation: "allButStatusAndMetadata",
  allowUnconditionalUpdate: false,
};
