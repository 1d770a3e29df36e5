// Names as Kubernetes writes them: DNS labels and subdomains, qualified names, label values.
// Here: one check per form. Not here: which field must have which form. Source: k8s.io/apimachinery util/validation.

/** A check answers with messages, none when good. */
export type NameCheck = (text: string) => readonly string[];

const LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const LABEL_1035 = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_MAX = 63;
const SUBDOMAIN_MAX = 253;

const tooLongText = (max: number): string => `must be no more than ${max} characters`;

function form(pattern: RegExp, max: number, wanted: string): NameCheck {
  return (text) => {
    const faults: string[] = [];
    if (text.length > max) faults.push(tooLongText(max));
    if (!pattern.test(text)) faults.push(wanted);
    return faults;
  };
}

export const dns1123Label = form(
  LABEL,
  LABEL_MAX,
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
);
export const dns1035Label = form(
  LABEL_1035,
  LABEL_MAX,
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
);
export const dns1123Subdomain = form(
  SUBDOMAIN,
  SUBDOMAIN_MAX,
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
);

export const labelValue: NameCheck = (text) => {
  if (text === "") return [];
  const faults: string[] = [];
  if (text.length > LABEL_MAX) faults.push(tooLongText(LABEL_MAX));
  if (!QUALIFIED.test(text))
    faults.push(
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    );
  return faults;
};

/** `name` or `prefix/name`. */
export const qualifiedName: NameCheck = (text) => {
  const parts = text.split("/");
  if (parts.length > 2) return ["a qualified name must consist of a name and an optional DNS subdomain prefix and '/'"];
  const faults: string[] = [];
  const name = parts[parts.length - 1] as string;
  if (parts.length === 2) {
    if (parts[0] === "") faults.push("prefix part must be non-empty");
    else faults.push(...dns1123Subdomain(parts[0] as string).map((fault) => `prefix part ${fault}`));
  }
  if (name === "") faults.push("name part must be non-empty");
  else if (name.length > LABEL_MAX) faults.push(`name part ${tooLongText(LABEL_MAX)}`);
  if (!QUALIFIED.test(name))
    faults.push(
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    );
  return faults;
};

/** A `-` at the end is allowed, since generated characters follow. */
export const asPrefix =
  (check: NameCheck): NameCheck =>
  (text) =>
    check(text.endsWith("-") && text.length > 1 ? `${text.slice(0, -1)}a` : text);
