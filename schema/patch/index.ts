// The public surface of the folder: patches as functions of an object.
export { jsonPatch } from "./json-patch.ts";
export { mergePatch } from "./merge-patch.ts";
export { strategicMergePatch } from "./strategic.ts";
export * from "./types.ts";
