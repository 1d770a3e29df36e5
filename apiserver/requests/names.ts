// The forms of names, labels and annotations. Here: the checks with upstream's texts. Source: k8s.io/apimachinery util/validation.

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const DNS_1035_LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const QUALIFIED_NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const DNS_1035_TEXT =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED_TEXT =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const tooLong = (text: string, max: number): readonly string[] => (text.length > max ? [`must be no more than ${max} characters`] : []);

/** A generateName may end in a dash. */
const masked = (name: string, prefix: boolean): string =>
  prefix && name.length > 1 && name.endsWith("-") ? `${name.slice(0, -1)}a` : name;

export const dnsSubdomainErrors = (name: string, prefix = false): readonly string[] => [
  ...tooLong(name, 253),
  ...(DNS_SUBDOMAIN.test(masked(name, prefix)) ? [] : [SUBDOMAIN_TEXT]),
];
export const dnsLabelErrors = (name: string, prefix = false): readonly string[] => [
  ...tooLong(name, 63),
  ...(DNS_LABEL.test(masked(name, prefix)) ? [] : [LABEL_TEXT]),
];
export const dns1035LabelErrors = (name: string, prefix = false): readonly string[] => [
  ...tooLong(name, 63),
  ...(DNS_1035_LABEL.test(masked(name, prefix)) ? [] : [DNS_1035_TEXT]),
];
/** A name that only has to fit into a path (RBAC). */
export const pathSegmentErrors = (name: string, prefix = false): readonly string[] => {
  if (!prefix && (name === "." || name === "..")) return [`may not be '${name}'`];
  return ["/", "%"].filter((sign) => name.includes(sign)).map((sign) => `may not contain '${sign}'`);
};

/** `name` or `prefix/name`. */
export function qualifiedNameErrors(text: string): readonly string[] {
  const parts = text.split("/");
  if (parts.length > 2) return [`a qualified name ${QUALIFIED_TEXT}`];
  const name = parts[parts.length - 1] as string;
  const wrong: string[] = [];
  if (parts.length === 2) {
    const prefix = parts[0] as string;
    if (prefix === "") wrong.push("prefix part must be non-empty");
    else wrong.push(...dnsSubdomainErrors(prefix).map((message) => `prefix part ${message}`));
  }
  if (name === "") wrong.push("name part must be non-empty");
  else if (name.length > 63) wrong.push("name part must be no more than 63 characters");
  if (!QUALIFIED_NAME.test(name)) wrong.push(QUALIFIED_TEXT);
  return wrong;
}

export const labelValueErrors = (value: string): readonly string[] => [
  ...(value.length > 63 ? ["must be no more than 63 characters"] : []),
  ...(LABEL_VALUE.test(value) ? [] : [VALUE_TEXT]),
];
