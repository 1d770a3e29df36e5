// Go's text templates as tokens. Here: what is one word of an action. Not here: in which order they may stand (parse.ts). Source: text/template/parse.

export type TokenKind =
  | "open"
  | "close"
  | "space"
  | "keyword"
  | "name"
  | "field"
  | "variable"
  | "dot"
  | "bool"
  | "nil"
  | "number"
  | "char"
  | "string"
  | "assign"
  | "declare"
  | "pipe"
  | "("
  | ")"
  | ","
  | "end of text";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

/** Says what is wrong, in words. */
export class TemplateFault extends Error {
  readonly code = "TemplateFault";
}

const KEYWORDS: ReadonlySet<string> = new Set("block break continue define else end if range template with".split(" "));
const OPEN = "{{";
const CLOSE = /^(?:\s-)?\}\}/;
/** What may follow a name, a field or a variable. */
const TERMINATOR = /^(?:[\s.,|:()]|\}\}|$)/;
const NUMBER =
  /^[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]+)?|0[bB][01_]*|0[oO][0-7_]*|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]+)?)i?/;
const FULL_NUMBER =
  /^[+-]?(?:0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO]?(?:_?[0-7])+|0|[1-9](?:_?\d)*|(?:\d(?:_?\d)*\.(?:\d(?:_?\d)*)?|\.\d(?:_?\d)*|\d(?:_?\d)*(?=[eE]))(?:[eE][+-]?\d+)?|0[xX](?:_?[0-9a-fA-F])*\.?(?:_?[0-9a-fA-F])*[pP][+-]?\d+)i?$/;
const ESCAPE = String.raw`\\(?:[abfnrtv\\'"]|[0-7]{3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})`;
const STRING = new RegExp(`^"(?:[^"\\\\\\n]|${ESCAPE.replace("'", "")})*"`);
const CHAR = new RegExp(`^'(?:[^'\\\\\\n]|${ESCAPE})'`, "u");
const WORD = /^[\p{L}\p{Nd}_]+/u;

const shown = (text: string): string => JSON.stringify(text.length > 20 ? `${text.slice(0, 20)}...` : text);

/** @throws TemplateFault */
export function tokensOf(template: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    const open = template.indexOf(OPEN, at);
    if (open < 0) break;
    at = open + OPEN.length;
    const trim = /^-\s/.exec(template.slice(at));
    if (trim) at += 1;
    const comment = /^\s*\/\*/.exec(template.slice(at));
    at = comment ? afterComment(template, at + comment[0].length) : action(template, at, tokens);
  }
  tokens.push({ kind: "end of text", text: "" });
  return tokens;
}

/** Text between actions as it is printed, and the words of an action without its braces. */
export type Segment = { readonly text: string } | { readonly action: readonly Token[] };

/** A template in order: trim marks have done their work, comments are gone. @throws TemplateFault */
export function segmentsOf(template: string): readonly Segment[] {
  const segments: Segment[] = [];
  let at = 0;
  let trims = false;
  for (;;) {
    const open = template.indexOf(OPEN, at);
    const between = open < 0 ? template.slice(at) : template.slice(at, open);
    const text = trims ? between.trimStart() : between;
    if (open < 0) return [...segments, { text }];
    at = open + OPEN.length;
    const trim = /^-\s/.test(template.slice(at));
    if (trim) at += 1;
    segments.push({ text: trim ? text.trimEnd() : text });
    const comment = /^\s*\/\*/.exec(template.slice(at));
    const tokens: Token[] = [];
    at = comment ? afterComment(template, at + comment[0].length) : action(template, at, tokens);
    if (!comment) segments.push({ action: tokens.slice(1, -1) });
    trims = /\s-\}\}$/.test(template.slice(0, at)) && at >= 4;
  }
}

function afterComment(template: string, start: number): number {
  const end = template.indexOf("*/", start);
  if (end < 0) throw new TemplateFault("a comment is not closed");
  const close = CLOSE.exec(template.slice(end + 2));
  if (!close) throw new TemplateFault("a comment must be closed by */ right before }}");
  return end + 2 + close[0].length;
}

/** @returns where the text after the action begins */
function action(template: string, start: number, tokens: Token[]): number {
  tokens.push({ kind: "open", text: OPEN });
  let at = start;
  let depth = 0;
  for (;;) {
    const rest = template.slice(at);
    const close = CLOSE.exec(rest);
    if (close) {
      if (depth > 0) throw new TemplateFault("a parenthesis is not closed");
      tokens.push({ kind: "close", text: "}}" });
      return at + close[0].length;
    }
    if (rest === "") throw new TemplateFault("an action is not closed by }}");
    const token = nextToken(rest);
    if (token.kind === "(") depth++;
    if (token.kind === ")" && --depth < 0) throw new TemplateFault("a parenthesis is closed that was not opened");
    tokens.push(token);
    at += token.text.length;
  }
}

const SIGNS: readonly (readonly [text: string, kind: TokenKind])[] = [
  [":=", "declare"],
  ["=", "assign"],
  ["|", "pipe"],
  ["(", "("],
  [")", ")"],
  [",", ","],
];

function nextToken(rest: string): Token {
  // Blanks before a closing with a trim mark belong to that.
  const space = /^\s+?(?=\s-\}\}|\S|$)/.exec(rest);
  if (space) return { kind: "space", text: space[0] };
  const sign = SIGNS.find(([text]) => rest.startsWith(text));
  if (sign) return { kind: sign[1], text: sign[0] };
  if (rest.startsWith('"')) return quoted(STRING, "string", rest);
  if (rest.startsWith("'")) return quoted(CHAR, "char", rest);
  if (rest.startsWith("`")) return quoted(/^`[^`]*`/, "string", rest);
  if (/^[+-]|^\.?\d/.test(rest)) return numberToken(rest);
  return wordToken(rest);
}

function quoted(pattern: RegExp, kind: "string" | "char", rest: string): Token {
  const found = pattern.exec(rest);
  if (!found) throw new TemplateFault(`a quoted text is not closed or not valid: ${shown(rest)}`);
  return { kind, text: found[0] };
}

function numberToken(rest: string): Token {
  const found = NUMBER.exec(rest)?.[0] ?? "";
  const isWhole = FULL_NUMBER.test(found) && !WORD.test(rest.slice(found.length));
  if (!isWhole) throw new TemplateFault(`bad number ${shown(rest)}`);
  return { kind: "number", text: found };
}

function wordToken(rest: string): Token {
  const mark = rest.startsWith(".") ? "." : rest.startsWith("$") ? "$" : "";
  const word = WORD.exec(rest.slice(mark.length))?.[0] ?? "";
  const text = mark + word;
  if (text === "") throw new TemplateFault(`unexpected ${shown(rest)}`);
  if (mark === "." && word === "") return { kind: "dot", text };
  if (!TERMINATOR.test(rest.slice(text.length))) throw new TemplateFault(`unexpected ${shown(rest.slice(text.length))} after ${text}`);
  if (mark === ".") return { kind: "field", text };
  if (mark === "$") return { kind: "variable", text };
  if (word === "true" || word === "false") return { kind: "bool", text };
  if (word === "nil") return { kind: "nil", text };
  return { kind: KEYWORDS.has(word) ? "keyword" : "name", text };
}
