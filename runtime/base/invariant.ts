// Promises the code makes to itself. A broken one is a fault of ours and stops the run; bad input is never an invariant.

export class InvariantError extends Error {
  readonly code = "InvariantError";
}

export function invariant(holds: unknown, promise: string): asserts holds {
  if (!holds) throw new InvariantError(`broken invariant: ${promise}`);
}

/** Makes a forgotten case of a closed union a compile error. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable: ${JSON.stringify(value)}`);
}
