// Flags of all commands: one table per command gives parsing and help. Here: reading, typing, hints. Not here: which flags a command has.
import { type ParseArgsConfig, parseArgs } from "node:util";

export interface FlagDefinition {
  readonly type: "string" | "boolean";
  readonly default?: string;
  readonly multiple?: boolean;
  /** Another name for the same flag. */
  readonly alias?: string;
  /** Shown in help in place of a value, e.g. `N` or `FILE`. */
  readonly value?: string;
  readonly help: string;
}

export type FlagTable = Readonly<Record<string, FlagDefinition>>;

/** Wrong use of the command line: one line with a hint, exit code 64. */
export class FlagError extends Error {
  readonly code = "FlagError";
  readonly hint: string;
  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

export interface Flags {
  text(name: string): string | undefined;
  texts(name: string): readonly string[];
  is(name: string): boolean;
  /** @throws FlagError for a text that is no whole number in the range */
  whole(name: string, min: number, max: number): number | undefined;
  choice<const T extends string>(name: string, choices: readonly T[]): T | undefined;
  readonly positionals: readonly string[];
}

/** Smallest number of edits between two words. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The known word that a mistyped one most likely means. */
export function closest(word: string, known: readonly string[]): string | undefined {
  const [best] = known.map((k) => ({ k, d: distance(word, k) })).sort((a, b) => a.d - b.d);
  return best && best.d <= Math.max(2, word.length / 3) ? best.k : undefined;
}

const nameOf = (arg: string): string => /^--(?:no-)?([^=]+)/.exec(arg)?.[1] ?? arg;

function withAliases(args: readonly string[], table: FlagTable): readonly string[] {
  const names = new Map(Object.entries(table).flatMap(([name, { alias }]) => (alias ? [[alias, name] as const] : [])));
  return args.map((arg) => {
    const name = names.get(nameOf(arg));
    return name && arg.startsWith("--") ? arg.replace(/^--[^=]+/, `--${name}`) : arg;
  });
}

const optionOf = ({ type, multiple, default: value }: FlagDefinition) => ({
  type,
  ...(multiple ? { multiple } : {}),
  ...(value === undefined ? {} : { default: value }),
});

const refuse = (command: string, error: unknown, args: readonly string[], table: FlagTable): never => {
  const known = Object.keys(table);
  const unknown = args.map(nameOf).find((name, i) => args[i]?.startsWith("--") && !known.includes(name));
  const guess = unknown && closest(unknown, known);
  const hint = guess ? `did you mean --${guess}?` : `\`theseus help ${command}\` lists the flags`;
  throw new FlagError(unknown ? `unknown flag --${unknown}` : ((error as Error).message.split(/[.\n]/)[0] ?? ""), hint);
};

/** @param positionals how many arguments that are no flags the command takes at the most
 *  @throws FlagError */
export function readFlags(command: string, table: FlagTable, args: readonly string[], positionals = 0): Flags {
  const options = Object.fromEntries(Object.entries(table).map(([name, flag]) => [name, optionOf(flag)]));
  const plain = withAliases(args, table);
  let parsed: { values: Record<string, unknown>; positionals: string[] };
  try {
    parsed = parseArgs({
      args: [...plain],
      options: options as ParseArgsConfig["options"],
      strict: true,
      allowPositionals: true,
      allowNegative: true,
    }) as typeof parsed;
  } catch (error) {
    if (!(error as { code?: string }).code?.startsWith("ERR_PARSE_ARGS")) throw error;
    return refuse(command, error, plain, table);
  }
  if (parsed.positionals.length > positionals) {
    throw new FlagError(
      `unexpected argument ${JSON.stringify(parsed.positionals[positionals])}`,
      `\`theseus help ${command}\` shows how it is used`,
    );
  }
  const { values } = parsed;
  const text = (name: string): string | undefined =>
    typeof values[name] === "string" && values[name] !== "" ? (values[name] as string) : undefined;
  return {
    text,
    texts: (name) => (Array.isArray(values[name]) ? (values[name] as string[]) : []),
    is: (name) => values[name] === true,
    whole(name, min, max) {
      const value = text(name);
      if (value === undefined) return undefined;
      const number = Number(value);
      if (!Number.isInteger(number) || number < min || number > max)
        throw new FlagError(`--${name} is ${JSON.stringify(value)}`, `give a whole number from ${min} to ${max}`);
      return number;
    },
    choice(name, choices) {
      const value = text(name);
      if (value === undefined) return undefined;
      const found = choices.find((c) => c === value);
      if (found === undefined) throw new FlagError(`--${name} is ${JSON.stringify(value)}`, `give one of ${choices.join(", ")}`);
      return found;
    },
    positionals: parsed.positionals,
  };
}

export function flagHelp(table: FlagTable): string {
  const rows = Object.entries(table).map(([name, flag]) => {
    const value = flag.type === "boolean" ? "" : `=${flag.value ?? "VALUE"}`;
    const alias = flag.alias ? `, --${flag.alias}` : "";
    const standard = flag.default === undefined || flag.default === "" ? "" : ` (default ${flag.default})`;
    return [
      `  --${name}${value}${alias}`,
      `${flag.help}${flag.multiple && !flag.help.includes("repeat") ? "; may be repeated" : ""}${standard}`,
    ] as const;
  });
  const width = Math.min(36, Math.max(...rows.map(([left]) => left.length)));
  return rows
    .map(([left, right]) => (left.length > width ? `${left}\n${" ".repeat(width)}  ${right}` : `${left.padEnd(width)}  ${right}`))
    .join("\n");
}
