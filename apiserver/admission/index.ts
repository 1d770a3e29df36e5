// The public surface of the folder: admission plugins.
export { type AdmissionFunction, functionPlugin } from "./functions.ts";
export { namespaceLifecycle } from "./namespace-lifecycle.ts";
export { type WebhookCall, webhookPlugin } from "./webhooks.ts";
