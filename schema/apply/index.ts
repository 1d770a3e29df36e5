// The public surface of the folder: server-side apply and the tracking of field owners.
export { apply } from "./apply.ts";
export { parseFieldsV1 } from "./fields-v1.ts";
export { withManagedFields } from "./managed-fields.ts";
export { resetFieldsOf } from "./reset-fields.ts";
export { sameButTimes } from "./same-but-times.ts";
export { trackUpdate } from "./track-update.ts";
export { compileTyped, type Typed } from "./typed.ts";
export * from "./types.ts";
