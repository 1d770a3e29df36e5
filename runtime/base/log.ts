// Log: what happened, for people. Here: the interface. Not here: winston (../real/), the golden log of simulations (simulator/).

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Logger {
  /** Only with --v=4 and more: what a developer wants. */
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds these fields to each line. */
  with(fields: LogFields): Logger;
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {}, with: () => silentLogger };
