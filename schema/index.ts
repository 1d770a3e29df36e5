// The public surface of the folder: what a schema means. Server-side apply has its own (apply/).
export { type CompiledSchema, compileSchema } from "./compile.ts";
export { type CrdSchemaOptions, validateCrdSchema } from "./crd-schema.ts";
export * from "./field.ts";
export { unknownFormats } from "./unknown-formats.ts";
