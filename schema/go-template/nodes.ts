// Go's text templates as trees. Here: the tree and how it is built. Not here: words (tokens.ts), whether a template is a good one (parse.ts), running (run.ts).
// Source: text/template/parse.
import { type Segment, segmentsOf, TemplateFault, type Token } from "./tokens.ts";

/** A base and the fields below it: `.a.b`, `$x.a`, `(...).a`. */
export interface Operand {
  readonly base:
    | { readonly is: "dot" }
    | { readonly is: "value"; readonly value: unknown }
    | { readonly is: "variable"; readonly name: string }
    | { readonly is: "function"; readonly name: string }
    | { readonly is: "pipe"; readonly pipe: Pipe };
  readonly fields: readonly string[];
}
export type Command = readonly Operand[];
export interface Pipe {
  readonly declares: readonly string[];
  /** `=` instead of `:=`. */
  readonly assigns: boolean;
  readonly commands: readonly Command[];
}
export type TemplateNode =
  | { readonly is: "text"; readonly text: string }
  | { readonly is: "pipe"; readonly pipe: Pipe }
  | { readonly is: "if" | "with" | "range"; readonly pipe: Pipe; readonly body: Body; readonly otherwise: Body }
  | { readonly is: "break" | "continue" }
  | { readonly is: "template"; readonly name: string; readonly pipe?: Pipe };
export type Body = readonly TemplateNode[];
export interface TemplateTree {
  readonly body: Body;
  readonly named: ReadonlyMap<string, Body>;
}

/** @throws TemplateFault */
export function templateTree(template: string): TemplateTree {
  const builder = new Builder(segmentsOf(template));
  const body = builder.body();
  if (builder.ending !== "end of text") throw new TemplateFault(`unexpected {{ ${builder.ending} }}`);
  return { body, named: builder.named };
}

const withoutSpaces = (tokens: readonly Token[]): readonly Token[] => tokens.filter((t) => t.kind !== "space");

class Builder {
  readonly named = new Map<string, Body>();
  /** What ended the last body, and the rest of an `else if`. */
  ending: "end" | "else" | "end of text" = "end of text";
  #elseTokens: readonly Token[] = [];
  #at = 0;
  readonly #segments: readonly Segment[];
  constructor(segments: readonly Segment[]) {
    this.#segments = segments;
  }

  body(): Body {
    const nodes: TemplateNode[] = [];
    for (;;) {
      const segment = this.#segments[this.#at++];
      if (!segment) {
        this.ending = "end of text";
        return nodes;
      }
      if ("text" in segment) {
        if (segment.text !== "") nodes.push({ is: "text", text: segment.text });
        continue;
      }
      const node = this.#action(segment.action);
      if (node === "ends") return nodes;
      if (node) nodes.push(node);
    }
  }

  #action(tokens: readonly Token[]): TemplateNode | "ends" | undefined {
    const [first, ...rest] = withoutSpaces(tokens);
    if (first?.kind !== "keyword") return { is: "pipe", pipe: pipeOf(tokens) };
    const after = tokens.slice(tokens.indexOf(first) + 1);
    switch (first.text) {
      case "end":
        this.ending = "end";
        return "ends";
      case "else":
        this.ending = "else";
        this.#elseTokens = after;
        return "ends";
      case "break":
      case "continue":
        return { is: first.text };
      case "if":
      case "with":
      case "range":
        return this.#control(first.text, after);
      case "define":
        this.named.set(textOfString(rest[0]), this.#closedBody("define"));
        return undefined;
      case "template":
        return {
          is: "template",
          name: textOfString(rest[0]),
          ...(rest.length > 1 ? { pipe: pipeOf(after.slice(indexAfter(after, rest[0]))) } : {}),
        };
      case "block": {
        const name = textOfString(rest[0]);
        this.named.set(name, this.#closedBody("block"));
        return { is: "template", name, pipe: pipeOf(after.slice(indexAfter(after, rest[0]))) };
      }
      default:
        throw new TemplateFault(`unexpected ${first.text}`);
    }
  }

  #closedBody(of: string): Body {
    const nodes = this.body();
    if (this.ending !== "end") throw new TemplateFault(`${of} lacks its {{ end }}`);
    return nodes;
  }

  #control(is: "if" | "with" | "range", tokens: readonly Token[]): TemplateNode {
    const pipe = pipeOf(tokens);
    const nodes = this.body();
    if (this.ending === "end of text") throw new TemplateFault(`${is} lacks its {{ end }}`);
    if (this.ending === "end") return { is, pipe, body: nodes, otherwise: [] };
    const [next] = withoutSpaces(this.#elseTokens);
    if (next?.kind === "keyword" && (next.text === "if" || next.text === "with")) {
      const nested = this.#control(next.text, this.#elseTokens.slice(this.#elseTokens.indexOf(next) + 1));
      return { is, pipe, body: nodes, otherwise: [nested] };
    }
    return { is, pipe, body: nodes, otherwise: this.#closedBody(is) };
  }
}

const indexAfter = (tokens: readonly Token[], token: Token | undefined): number => (token ? tokens.indexOf(token) + 1 : 0);

const textOfString = (token: Token | undefined): string => {
  if (token?.kind !== "string") throw new TemplateFault("a name in quotes must follow");
  return stringValue(token.text);
};

function pipeOf(tokens: readonly Token[]): Pipe {
  const mark = tokens.findIndex((t) => t.kind === "declare" || t.kind === "assign");
  const isDeclaration = mark >= 0 && tokens.slice(0, mark).every((t) => t.kind === "variable" || t.kind === "space" || t.kind === ",");
  const declares = isDeclaration ? tokens.slice(0, mark).flatMap((t) => (t.kind === "variable" ? [t.text] : [])) : [];
  const reader = { tokens: isDeclaration ? tokens.slice(mark + 1) : tokens, at: 0 };
  const commands = commandsOf(reader);
  return { declares, assigns: isDeclaration && tokens[mark]?.kind === "assign", commands };
}

interface Reader {
  readonly tokens: readonly Token[];
  at: number;
}

function commandsOf(reader: Reader): readonly Command[] {
  const commands: Operand[][] = [[]];
  for (; ; reader.at++) {
    const token = reader.tokens[reader.at];
    if (!token || token.kind === ")") break;
    if (token.kind === "space") continue;
    if (token.kind === "pipe") commands.push([]);
    else commands.at(-1)?.push(operandOf(reader, token));
  }
  if (commands.some((c) => c.length === 0)) throw new TemplateFault("a command is empty");
  return commands;
}

/** Leaves the reader on the operand's last token. */
function operandOf(reader: Reader, token: Token): Operand {
  const fields: string[] = [];
  const base = baseOf(reader, token, fields);
  while (reader.tokens[reader.at + 1]?.kind === "field") fields.push(reader.tokens[++reader.at]?.text.slice(1) ?? "");
  return { base, fields };
}

function baseOf(reader: Reader, token: Token, fields: string[]): Operand["base"] {
  switch (token.kind) {
    case "dot":
      return { is: "dot" };
    case "field":
      fields.push(token.text.slice(1));
      return { is: "dot" };
    case "variable":
      return { is: "variable", name: token.text };
    case "name":
      return { is: "function", name: token.text };
    case "bool":
      return { is: "value", value: token.text === "true" };
    case "nil":
      return { is: "value", value: null };
    case "number":
      return { is: "value", value: Number(token.text.replaceAll("_", "")) };
    case "string":
      return { is: "value", value: stringValue(token.text) };
    case "char":
      return { is: "value", value: stringValue(`"${token.text.slice(1, -1)}"`).codePointAt(0) ?? 0 };
    case "(": {
      reader.at++;
      const from = reader.at;
      const close = closing(reader.tokens, from);
      const pipe = pipeOf(reader.tokens.slice(from, close));
      reader.at = close;
      return { is: "pipe", pipe };
    }
    default:
      throw new TemplateFault(`unexpected ${token.text}`);
  }
}

function closing(tokens: readonly Token[], from: number): number {
  let depth = 1;
  for (let i = from; i < tokens.length; i++) {
    if (tokens[i]?.kind === "(") depth++;
    if (tokens[i]?.kind === ")" && --depth === 0) return i;
  }
  throw new TemplateFault("a parenthesis is not closed");
}

const ESCAPES: Readonly<Record<string, string>> = { a: "\u0007", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

function stringValue(quoted: string): string {
  if (quoted.startsWith("`")) return quoted.slice(1, -1);
  return quoted
    .slice(1, -1)
    .replace(/\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))/g, (_all, x, u, long, octal, one: string) => {
      const hex: string | undefined = x ?? u ?? long;
      if (hex) return String.fromCodePoint(Number.parseInt(hex, 16));
      if (octal) return String.fromCodePoint(Number.parseInt(octal, 8));
      return ESCAPES[one] ?? one;
    });
}
