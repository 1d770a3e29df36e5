// Flags as kube-apiserver and etcd take them. Here: reading them, and their help. Not here: what they do.

export interface KnownFlags {
  /** Name -> text of its help. */
  readonly used: Readonly<Record<string, string>>;
  /** Accepted and without effect here. */
  readonly ignored: readonly string[];
}

export interface ReadFlags {
  /** Last value of each flag; a flag without a value is "true". */
  readonly values: ReadonlyMap<string, string>;
  /** Flags that neither list knows, as they were given. */
  readonly unknown: readonly string[];
}

/** Reads --name=value, --name value of used flags, and --name. */
export function readFlags(args: readonly string[], known: KnownFlags): ReadFlags {
  const values = new Map<string, string>();
  const unknown: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    const [, name = "", value] = /^--?([^=]+)(?:=(.*))?$/s.exec(arg) ?? [];
    const next = args[at + 1];
    const takesNext = value === undefined && next !== undefined && !next.startsWith("-");
    if (takesNext) at += 1;
    if (name in known.used) values.set(name, value ?? (takesNext ? next : "true"));
    else if (!known.ignored.includes(name)) unknown.push(arg);
  }
  return { values, unknown };
}

/** envtest looks in this text for flags that it then sends: one a line. */
export function helpText(program: string, known: KnownFlags): string {
  const width = Math.max(...Object.keys(known.used).map((name) => name.length));
  const lines = Object.entries(known.used).map(([name, help]) => `      --${name.padEnd(width)}  ${help}`);
  return [
    `${program} for envtest, on the embedded API server of theseus.`,
    "",
    ...lines,
    "",
    "Accepted without effect:",
    ...known.ignored.map((name) => `      --${name}`),
    "",
  ].join("\n");
}
