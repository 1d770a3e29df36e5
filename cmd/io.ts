// What a command is given and what it is. Here: types. Not here: the table of commands (commands.ts).

export interface CommandModule {
  /** Usage, flags, examples. */
  readonly help: string;
  /** @returns the exit code */
  readonly run: (args: readonly string[], io: Io) => Promise<number>;
}

export interface Io {
  readonly out: (line: string) => void;
  readonly error: (line: string) => void;
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly stop: AbortSignal;
}
