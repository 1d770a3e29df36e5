// Regular expressions of the API (RE2 syntax) as JavaScript ones. Here: translation of syntax. Not here: who matches what.
// Matching itself is JavaScript's: lengths are bounded by what a request may carry. Source: the syntax page of RE2.

const SYNTAX = new Set("^$\\.*+?()[]{}|/");
const POSIX: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7F",
  blank: "\\t ",
  cntrl: "\\x00-\\x1F\\x7F",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`\\{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};
const SPACE = "\\t\\n\\f\\r ";
const REPEAT_MAX = 1000; // RE2 refuses more

class PatternError extends Error {
  readonly code = "PatternError";
}

interface Scan {
  readonly text: string;
  at: number;
  /** Heads of the groups opened for `(?i)` at each depth: they close at each bar and with the group they stand in. */
  readonly opened: string[][];
}

/** @throws PatternError when `pattern` is not RE2 or not expressible */
export function compilePattern(pattern: string): RegExp {
  const scan: Scan = { text: pattern, at: 0, opened: [[]] };
  let source = "";
  while (scan.at < pattern.length) source += token(scan);
  if (scan.opened.length !== 1) throw new PatternError("missing closing )");
  source += ")".repeat(scan.opened[0]?.length ?? 0);
  try {
    return new RegExp(source, "u");
  } catch (cause) {
    throw new PatternError(`error parsing regexp: ${pattern}`, { cause });
  }
}

function token(scan: Scan): string {
  const c = scan.text[scan.at] as string;
  switch (c) {
    case "\\":
      return escaped(scan, false);
    case "[":
      return charClass(scan);
    case "(":
      return openGroup(scan);
    case ")":
      return closeGroup(scan);
    case "{":
      return repeat(scan);
    case "|": {
      scan.at++;
      const heads = scan.opened.at(-1) ?? [];
      return `${")".repeat(heads.length)}|${heads.join("")}`;
    }
    case ".":
      scan.at++;
      return /\(\?[im]*s/.test(scan.text) ? "." : "[^\\n]";
    case "}":
    case "]":
    case "/":
      scan.at++;
      return `\\${c}`;
    default: {
      const point = String.fromCodePoint(scan.text.codePointAt(scan.at) as number);
      scan.at += point.length;
      return point;
    }
  }
}

function repeat(scan: Scan): string {
  const found = /^\{(\d+)(?:,(\d*))?\}/.exec(scan.text.slice(scan.at, scan.at + 24));
  if (!found) {
    scan.at++;
    return "\\{";
  }
  if (Number(found[1]) > REPEAT_MAX || Number(found[2] ?? 0) > REPEAT_MAX) throw new PatternError(`invalid repeat count: ${found[0]}`);
  scan.at += found[0].length;
  return found[0];
}

function openGroup(scan: Scan): string {
  const rest = scan.text.slice(scan.at);
  if (!rest.startsWith("(?")) {
    scan.at++;
    scan.opened.push([]);
    return "(";
  }
  const named = /^\(\?P?<([A-Za-z_]\w*)>/.exec(rest);
  const flags = /^\(\?([ims]*(?:-[ims]+)?)([:)])/.exec(rest);
  if (named) {
    scan.at += named[0].length;
    scan.opened.push([]);
    return `(?<${named[1]}>`;
  }
  if (!flags) throw new PatternError(`invalid or unsupported Perl syntax: ${rest.slice(0, 4)}`);
  scan.at += flags[0].length;
  if (flags[2] === ":") {
    scan.opened.push([]);
    return flags[1] === "" ? "(?:" : `(?${flags[1]}:`;
  }
  // `(?i)` holds to the end of the group it stands in: wrap the rest of that group.
  const head = flags[1] === "" ? "(?:" : `(?${flags[1]}:`;
  scan.opened.at(-1)?.push(head);
  return head;
}

function closeGroup(scan: Scan): string {
  if (scan.opened.length === 1) throw new PatternError("unexpected )");
  scan.at++;
  return ")".repeat((scan.opened.pop()?.length ?? 0) + 1);
}

function escaped(scan: Scan, inClass: boolean): string {
  const c = scan.text[scan.at + 1];
  if (c === undefined) throw new PatternError("trailing backslash at end of expression");
  scan.at += 2;
  if (c === "Q" && !inClass) return quoted(scan);
  if (c === "p" || c === "P") return property(scan, c);
  if (c === "x") return hex(scan);
  if (/[0-7]/.test(c)) return octal(scan, c);
  if (/[dDwWfnrtv]/.test(c)) return `\\${c}`;
  if (c === "s") return inClass ? SPACE : `[${SPACE}]`;
  if (c === "S") return inClass ? "\\S" : `[^${SPACE}]`;
  if (c === "a") return "\\x07";
  if (!inClass && (c === "b" || c === "B")) return `\\${c}`;
  if (!inClass && c === "A") return "(?<![\\s\\S])";
  if (!inClass && c === "z") return "(?![\\s\\S])";
  if (/[0-9A-Za-z]/.test(c)) throw new PatternError(`invalid escape sequence: \\${c}`);
  return literal(String.fromCodePoint(scan.text.codePointAt(scan.at - 1) as number), inClass, scan);
}

function literal(point: string, inClass: boolean, scan: Scan): string {
  scan.at += point.length - 1;
  if (SYNTAX.has(point) || (inClass && (point === "-" || point === "^"))) return `\\${point}`;
  return point;
}

function quoted(scan: Scan): string {
  const end = scan.text.indexOf("\\E", scan.at);
  const text = scan.text.slice(scan.at, end < 0 ? undefined : end);
  scan.at = end < 0 ? scan.text.length : end + 2;
  return text.replace(/[\^$\\.*+?()[\]{}|/]/g, "\\$&");
}

function property(scan: Scan, c: "p" | "P"): string {
  const found = /^(?:\{(\^?)(\w+)\}|(\w))/.exec(scan.text.slice(scan.at));
  if (!found) throw new PatternError("invalid character class range");
  scan.at += found[0].length;
  const name = found[2] ?? (found[3] as string);
  const negated = (c === "P") !== (found[1] === "^");
  const head = negated ? "\\P" : "\\p";
  return name === "Any" || name.length <= 2 ? `${head}{${name}}` : `${head}{Script=${name}}`;
}

function hex(scan: Scan): string {
  const found = /^(?:\{([0-9A-Fa-f]{1,8})\}|([0-9A-Fa-f]{2}))/.exec(scan.text.slice(scan.at));
  if (!found) throw new PatternError("invalid escape sequence: \\x");
  scan.at += found[0].length;
  return `\\u{${found[1] ?? found[2]}}`;
}

function octal(scan: Scan, first: string): string {
  const found = /^[0-7]{0,2}/.exec(scan.text.slice(scan.at)) as RegExpExecArray;
  // A single digit but zero would be a back reference, which RE2 does not have.
  if (first !== "0" && found[0] === "") throw new PatternError(`invalid escape sequence: \\${first}`);
  scan.at += found[0].length;
  return `\\u{${Number.parseInt(first + found[0], 8).toString(16)}}`;
}

function charClass(scan: Scan): string {
  scan.at++;
  let source = "[";
  if (scan.text[scan.at] === "^") {
    source += "^";
    scan.at++;
  }
  for (let first = true; ; first = false) {
    const c = scan.text[scan.at];
    if (c === undefined) throw new PatternError("missing closing ]");
    if (c === "]" && !first) {
      scan.at++;
      return `${source}]`;
    }
    source += classPart(scan, c);
  }
}

function classPart(scan: Scan, c: string): string {
  if (c === "\\") return escaped(scan, true);
  const posix = c === "[" ? /^\[:(\^?)(\w+):\]/.exec(scan.text.slice(scan.at)) : null;
  if (posix) {
    const set = POSIX[posix[2] as string];
    if (set === undefined || posix[1] === "^") throw new PatternError(`invalid character class range: ${posix[0]}`);
    scan.at += posix[0].length;
    return set;
  }
  const point = String.fromCodePoint(scan.text.codePointAt(scan.at) as number);
  scan.at += point.length;
  if (point === "-") {
    // A dash that begins no range is a literal; u mode wants it escaped beside a class such as \d.
    const next = scan.text[scan.at];
    const before = scan.text[scan.at - 2];
    const afterClass = /\\[dDwWsS]$/.test(scan.text.slice(0, scan.at - 1));
    return next === "]" || before === "[" || before === "^" || afterClass ? "\\-" : "-";
  }
  return SYNTAX.has(point) && point !== "." && point !== "*" && point !== "+" && point !== "?" && point !== "$" ? `\\${point}` : point;
}
