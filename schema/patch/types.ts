// Patches: what they take and how they fail. Here: types and the error. Not here: the three kinds of patch (json.ts, merge.ts, strategic.ts).

/**
 * Why a patch could not be used. `undecodable`: not a patch of that kind (400). `unprocessable`: it does not fit the object (422).
 * `internal`: what kube-apiserver answers with 500 and no reason.
 */
export type PatchFault = "undecodable" | "unprocessable" | "internal";

/** Tell by `code` and `fault`. */
export class PatchError extends Error {
  readonly code = "PatchError";
  readonly fault: PatchFault;
  constructor(fault: PatchFault, message: string) {
    super(message);
    this.name = "PatchError";
    this.fault = fault;
  }
}
