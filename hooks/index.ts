// theseus-capi/hooks: everything an author of an extension needs. Here: exports only.
export * from "../api/hooks/index.ts";
export * from "./answers.ts";
export { type Extension, extension, type HandlerOptions, type HookFunction, handleHookRequest } from "./extension.ts";
export * from "./names.ts";
