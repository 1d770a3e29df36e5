// Registering functions in an environment of rules. Here: the one way to do it. Not here: functions (library.ts, library-types.ts).
import type { Environment } from "@marcbachmann/cel-js";

/** Registers a function whose arguments are what its signature says. */
export type Register = (signature: string, handler: (...args: never[]) => unknown) => void;

export const registrar =
  (environment: Environment): Register =>
  (signature, handler) => {
    // `async: false` keeps evaluation free of promises.
    environment.registerFunction(signature, handler as never, { async: false } as never);
  };
