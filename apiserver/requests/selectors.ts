// Label and field selectors as they come in a query. Here: parsing and matching. Not here: selectors inside objects.
import { badRequest } from "../errors.ts";
import type { ApiObject } from "../object.ts";
import type { ResourceType } from "../registry.ts";
import { qualifiedNameErrors, labelValueErrors } from "./names.ts";

export type Matcher = (object: ApiObject) => boolean;

type Labels = Readonly<Record<string, string>>;
export interface Requirement {
  readonly key: string;
  readonly operator: "=" | "!=" | "in" | "notin" | "exists" | "!" | ">" | "<";
  readonly values: readonly string[];
}

export const everything: Matcher = () => true;

interface Token {
  readonly kind: "word" | "sign";
  readonly text: string;
}

function tokenize(selector: string): readonly Token[] {
  const tokens: Token[] = [];
  const pattern = /\s*(==|!=|=|!|>|<|\(|\)|,|[^\s=!<>(),]+)/gy;
  for (;;) {
    const at = pattern.lastIndex;
    const match = pattern.exec(selector);
    if (!match) {
      if (selector.slice(at).trim() !== "") throw new Error(`unable to parse at ${JSON.stringify(selector.slice(at))}`);
      return tokens;
    }
    const text = match[1] as string;
    tokens.push({ kind: /^[=!<>(),]/.test(text) ? "sign" : "word", text });
  }
}

/** Requirements of a label selector such as `a=b,c in (d,e),!f`. Throws Error with what is wrong. */
export function parseLabelSelector(selector: string): readonly Requirement[] {
  const tokens = tokenize(selector);
  const requirements: Requirement[] = [];
  let at = 0;
  const peek = (): string | undefined => tokens[at]?.text;
  const take = (what: string): string => {
    const token = tokens[at];
    if (!token) throw new Error(`found end of selector, expected ${what}`);
    at += 1;
    return token.text;
  };
  const word = (what: string): string => {
    const token = tokens[at];
    if (token?.kind !== "word") throw new Error(`found ${JSON.stringify(token?.text ?? "")}, expected ${what}`);
    at += 1;
    return token.text;
  };
  const values = (): readonly string[] => {
    if (take("(") !== "(") throw new Error("expected ( after in or notin");
    if (peek() === ")") throw new Error("for in and notin, values must not be empty");
    const found: string[] = [];
    for (;;) {
      const token = tokens[at];
      if (token?.kind === "word") found.push(word("a value"));
      else found.push(""); // an empty value between commas
      const next = take(", or )");
      if (next === ")") return found;
      if (next !== ",") throw new Error(`found ${JSON.stringify(next)}, expected , or )`);
    }
  };
  const requirement = (): Requirement => {
    if (peek() === "!") {
      at += 1;
      return { key: word("a key"), operator: "!", values: [] };
    }
    const key = word("a key");
    const operator = peek();
    if (operator === undefined || operator === ",") return { key, operator: "exists", values: [] };
    at += 1;
    if (operator === "in" || operator === "notin") return { key, operator, values: values() };
    if (operator === "=" || operator === "==" || operator === "!=") {
      const value = tokens[at]?.kind === "word" ? word("a value") : "";
      return { key, operator: operator === "!=" ? "!=" : "=", values: [value] };
    }
    if (operator === ">" || operator === "<") {
      const value = word("a number");
      if (!/^-?\d+$/.test(value)) throw new Error(`for ${operator} the value must be an integer`);
      return { key, operator, values: [value] };
    }
    throw new Error(`found ${JSON.stringify(operator)}, expected an operator`);
  };
  while (at < tokens.length) {
    requirements.push(requirement());
    if (at >= tokens.length) break;
    const next = take(",");
    if (next !== ",") throw new Error(`found ${JSON.stringify(next)}, expected ,`);
    if (at >= tokens.length) throw new Error("found end of selector after ,");
  }
  for (const { key, operator, values: given } of requirements) {
    const wrong = [...qualifiedNameErrors(key), ...(operator === "exists" || operator === "!" ? [] : given.flatMap(labelValueErrors))];
    if (wrong.length > 0) throw new Error(wrong.join("; "));
  }
  return requirements;
}

export function meets(labels: Labels, { key, operator, values }: Requirement): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "=":
    case "in":
      return value !== undefined && values.includes(value);
    case "!=":
    case "notin":
      return value === undefined || !values.includes(value);
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    case ">":
      return value !== undefined && /^-?\d+$/.test(value) && Number(value) > Number(values[0]);
    case "<":
      return value !== undefined && /^-?\d+$/.test(value) && Number(value) < Number(values[0]);
  }
}

const NO_LABELS: Labels = Object.freeze({});

/** Throws BadRequest. */
export function labelMatcher(selector: string): Matcher {
  if (selector.trim() === "") return everything;
  let requirements: readonly Requirement[];
  try {
    requirements = parseLabelSelector(selector);
  } catch (error) {
    throw badRequest(`unable to parse requirement: ${(error as Error).message}`);
  }
  return (object) => requirements.every((requirement) => meets(object.metadata.labels ?? NO_LABELS, requirement));
}

export interface FieldTerm {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

const unescaped = (text: string): string => text.replace(/\\([\\,=])/g, "$1");

/** Terms of a field selector such as `metadata.name=a,spec.x!=b`. Throws Error with what is wrong. */
export function parseFieldSelector(selector: string): readonly FieldTerm[] {
  const terms: FieldTerm[] = [];
  for (const part of selector.split(/(?<!\\),/)) {
    if (part === "") continue;
    const match = /^((?:\\.|[^\\=!])*?)(!=|==|=)(.*)$/s.exec(part);
    if (!match) throw new Error(`invalid selector: '${selector}'; can't understand '${part}'`);
    terms.push({ field: (match[1] as string).trim(), equal: match[2] !== "!=", value: unescaped(match[3] as string) });
  }
  return terms;
}

export interface FieldSelection {
  readonly matches: Matcher;
  /** Set when the selector names one object or one namespace. */
  readonly name?: string;
  readonly namespace?: string;
}

type Getter = (object: ApiObject) => string;

function getterOf(type: ResourceType, field: string): Getter | undefined {
  if (field === "metadata.name") return (object) => object.metadata.name ?? "";
  if (field === "metadata.namespace" && type.namespaced) return (object) => object.metadata.namespace ?? "";
  if (field === "metadata.namespace" && type.custom) return (object) => object.metadata.namespace ?? "";
  const getters = type.selectableFields;
  return getters && Object.hasOwn(getters, field) ? getters[field] : undefined;
}

/** Throws BadRequest for a field that the kind does not select by. */
export function fieldSelection(selector: string, type: ResourceType): FieldSelection {
  if (selector === "") return { matches: everything };
  let terms: readonly FieldTerm[];
  try {
    terms = parseFieldSelector(selector);
  } catch (error) {
    throw badRequest((error as Error).message);
  }
  const tests = terms.map(({ field, equal, value }) => {
    const getter = getterOf(type, field);
    if (!getter)
      throw badRequest(
        `Unable to find "${type.group === "" ? "" : `${type.group}/`}${type.version}, Resource=${type.plural}" that match label selector "", field selector "${selector}": field label not supported: ${field}`,
      );
    return (object: ApiObject): boolean => (getter(object) === value) === equal;
  });
  const exact = (field: string): string | undefined => terms.find((term) => term.equal && term.field === field)?.value;
  return { matches: (object) => tests.every((test) => test(object)), name: exact("metadata.name"), namespace: exact("metadata.namespace") };
}
