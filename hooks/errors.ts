// Errors of hook calls. Here: one class, its causes, texts that name handler and ExtensionConfig. Told by `code`.

export type HookErrorCode =
  /** An ExtensionConfig that may serve the hook is not usable yet: wait, nothing may be concluded. */
  | "HookNotReady"
  /** No handler of that name, or it serves another hook. */
  | "HookHandlerUnknown"
  /** More than one handler where one is allowed. */
  | "HookAmbiguous"
  /** The handler's ExtensionConfig does not select the namespace of the object. */
  | "HookNamespaceMismatch"
  /** The server could not be reached, or did not answer with 200 and JSON. */
  | "HookCallFailed"
  /** The handler answered, and said Failure. */
  | "HookAnswerFailure"
  /** The answer breaks the contract. */
  | "HookAnswerInvalid"
  /** A patch in the answer cannot be used. */
  | "HookPatchInvalid"
  /** Discovery found faults. */
  | "DiscoveryInvalid";

export class HookError extends Error {
  readonly code: HookErrorCode;
  constructor(code: HookErrorCode, message: string) {
    super(message);
    this.name = "HookError";
    this.code = code;
  }
}

/** `CanUpdateMachine of handler "x.config" (ExtensionConfig config)`: who is meant, in every text. */
export const subject = (hook: string, handler: string, config: string): string =>
  `${hook} of handler "${handler}" (ExtensionConfig ${config})`;

export const textOf = (e: unknown): string => (e instanceof Error ? e.message : String(e));
