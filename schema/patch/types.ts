// Patches: how they fail. Here: the error. Not here: the three kinds of patch (json-patch.ts, merge-patch.ts, strategic.ts).

/**
 * Why a patch could not be used. `undecodable`: not a patch of that kind (400). `tooLarge`: more operations than a server takes (413).
 * `unprocessable`: it does not fit the object (422, reason Invalid). `internal`: what kube-apiserver answers with 500 and no reason.
 */
export type PatchFault = "undecodable" | "tooLarge" | "unprocessable" | "internal";

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
