// Is a text a Go template? Here: the grammar, as far as to say yes or what is wrong. Not here: words (tokens.ts), running templates.
// Source: text/template/parse.
import { templateFunctions } from "./functions.ts";
import { TemplateFault, type Token, type TokenKind, tokensOf } from "./tokens.ts";

/** @returns what is wrong, in words; undefined for a template that can be parsed */
export function templateFault(template: string): string | undefined {
  try {
    document(new Reader(tokensOf(template)));
    return undefined;
  } catch (error) {
    if (error instanceof TemplateFault) return error.message;
    throw error;
  }
}

class Reader {
  readonly #tokens: readonly Token[];
  #at = 0;
  /** Variables in scope, the innermost last. */
  readonly variables: string[] = ["$"];
  rangeDepth = 0;
  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }
  peek(ahead = 0): Token {
    return this.#tokens[this.#at + ahead] ?? { kind: "end of text", text: "" };
  }
  next(): Token {
    const token = this.peek();
    this.#at++;
    return token;
  }
  skipSpace(): void {
    while (this.peek().kind === "space") this.#at++;
  }
  peekWord(): Token {
    this.skipSpace();
    return this.peek();
  }
  expect(kind: TokenKind, where: string): Token {
    const token = this.peekWord();
    if (token.kind !== kind) throw unexpected(token, where);
    return this.next();
  }
}

const unexpected = (token: Token, where: string): TemplateFault =>
  new TemplateFault(`unexpected ${token.kind === "end of text" ? token.kind : token.text.trim() || "blank"} in ${where}`);

const isKeyword = (token: Token, word: string): boolean => token.kind === "keyword" && token.text === word;

function document(reader: Reader): void {
  while (reader.peek().kind !== "end of text") {
    reader.expect("open", "text");
    if (isKeyword(reader.peekWord(), "define")) definition(reader);
    else if (action(reader) !== "done") throw new TemplateFault("else or end without if, range or with");
  }
}

function definition(reader: Reader): void {
  reader.next();
  reader.expect("string", "define");
  reader.expect("close", "define");
  ownScope(reader, () => {
    if (body(reader) !== "end") throw new TemplateFault("else in define");
  });
}

/** A template of its own sees no variables of those around it. */
function ownScope(reader: Reader, work: () => void): void {
  const outer = reader.variables.splice(1);
  const depth = reader.rangeDepth;
  reader.rangeDepth = 0;
  work();
  reader.variables.splice(1, reader.variables.length, ...outer);
  reader.rangeDepth = depth;
}

/** What an action was: complete, the end of a body, or an else, of which the rest follows. */
type Outcome = "done" | "end" | "else";

/** Actions up to an end or else. */
function body(reader: Reader): "end" | "else" {
  for (;;) {
    if (reader.peek().kind === "end of text") throw new TemplateFault("unexpected end of text: an action lacks its {{ end }}");
    reader.expect("open", "text");
    const outcome = action(reader);
    if (outcome !== "done") return outcome;
  }
}

function action(reader: Reader): Outcome {
  const token = reader.peekWord();
  if (token.kind !== "keyword") {
    pipeline(reader, "command", "close");
    return "done";
  }
  reader.next();
  switch (token.text) {
    case "if":
    case "with":
    case "range":
      control(reader, token.text);
      return "done";
    case "end":
      reader.expect("close", "end");
      return "end";
    case "else":
      // `else if` and `else with` are read by what they belong to.
      if (!isKeyword(reader.peekWord(), "if") && !isKeyword(reader.peekWord(), "with")) reader.expect("close", "else");
      return "else";
    case "break":
    case "continue":
      if (reader.rangeDepth === 0) throw new TemplateFault(`${token.text} outside range`);
      reader.expect("close", token.text);
      return "done";
    case "template":
      reader.expect("string", "template");
      if (reader.peekWord().kind === "close") reader.next();
      else pipeline(reader, "template", "close");
      return "done";
    case "block":
      block(reader);
      return "done";
    default:
      throw unexpected(token, "command");
  }
}

function block(reader: Reader): void {
  reader.expect("string", "block");
  pipeline(reader, "block", "close");
  ownScope(reader, () => {
    if (body(reader) !== "end") throw new TemplateFault("else in block");
  });
}

function control(reader: Reader, word: "if" | "with" | "range"): void {
  const known = reader.variables.length;
  pipeline(reader, word, "close");
  if (word === "range") reader.rangeDepth++;
  const outcome = body(reader);
  if (word === "range") reader.rangeDepth--;
  if (outcome === "else") alternative(reader, word);
  reader.variables.length = known;
}

function alternative(reader: Reader, word: "if" | "with" | "range"): void {
  if (word !== "range" && isKeyword(reader.peekWord(), word)) {
    reader.next();
    control(reader, word);
    return;
  }
  // After `else if` that belongs to nothing, the keyword stands where text should be.
  if (reader.peek().kind === "keyword") throw unexpected(reader.peek(), `else of ${word}`);
  if (body(reader) !== "end") throw new TemplateFault(`two else in ${word}`);
}

const OPERANDS: ReadonlySet<TokenKind> = new Set(["bool", "char", "dot", "field", "name", "number", "nil", "string", "variable", "("]);
/** What a value cannot be piped into. */
const NOT_CALLABLE: ReadonlySet<TokenKind> = new Set(["bool", "dot", "nil", "number", "char", "string"]);

function pipeline(reader: Reader, where: string, end: "close" | ")"): void {
  declarations(reader, where);
  for (let stage = 1; ; stage++) {
    const token = reader.peekWord();
    if (token.kind === end) {
      if (stage === 1) throw new TemplateFault(`${where} without a value`);
      reader.next();
      return;
    }
    if (!OPERANDS.has(token.kind)) throw unexpected(token, where);
    command(reader);
    if (stage > 1 && NOT_CALLABLE.has(token.kind)) throw new TemplateFault(`${token.text} is no function, and stands after a |`);
  }
}

/** `$x :=`, `$x =`, and in a range `$i, $x :=`. */
function declarations(reader: Reader, where: string): void {
  for (let count = 1; reader.peekWord().kind === "variable"; count++) {
    const gap = reader.peek(1).kind === "space" ? 2 : 1;
    const after = reader.peek(gap);
    if (after.kind !== "declare" && after.kind !== "assign" && after.kind !== ",") return;
    const { text } = reader.next();
    reader.skipSpace();
    reader.next();
    reader.variables.push(text);
    if (after.kind !== ",") return;
    if (where !== "range" || count > 1) throw new TemplateFault(`too many declarations in ${where}`);
    const following = reader.peekWord();
    if (!["variable", "close", ")"].includes(following.kind)) throw new TemplateFault("range can only declare variables");
  }
}

function command(reader: Reader): void {
  let count = 0;
  for (;;) {
    if (operand(reader)) count++;
    const token = reader.peek();
    if (token.kind === "space") {
      reader.next();
      continue;
    }
    if (token.kind === "pipe") reader.next();
    else if (token.kind !== "close" && token.kind !== ")") throw unexpected(token, "operand");
    break;
  }
  if (count === 0) throw new TemplateFault("a command is empty");
}

/** @returns false when there is none */
function operand(reader: Reader): boolean {
  const token = reader.peekWord();
  if (!OPERANDS.has(token.kind)) return false;
  reader.next();
  if (token.kind === "name" && !templateFunctions.has(token.text)) throw new TemplateFault(`function ${token.text} is not defined`);
  if (token.kind === "variable" && !reader.variables.includes(token.text)) throw new TemplateFault(`variable ${token.text} is not defined`);
  if (token.kind === "(") pipeline(reader, "parenthesis", ")");
  if (reader.peek().kind === "field" && NOT_CALLABLE.has(token.kind)) throw new TemplateFault(`unexpected . after ${token.text}`);
  while (reader.peek().kind === "field") reader.next();
  return true;
}
