// All rule sets. Here: the list and running one over a request; pure. Not here: how requests come in (review.ts; simulator/webhook-functions.ts).
import type { KubeObject } from "../api/meta/object.ts";
import type { FieldError } from "../schema/field.ts";
import { clusterRules } from "./cluster.ts";
import { clusterClassRules } from "./clusterclass.ts";
import { decodeFault } from "./decode.ts";
import { devClusterRules, devClusterTemplateRules, devMachineRules, devMachineTemplateRules } from "./dev.ts";
import { extensionConfigRules } from "./extensionconfig.ts";
import { kubeadmConfigRules, kubeadmConfigTemplateRules } from "./kubeadmconfig.ts";
import { kubeadmControlPlaneRules, kubeadmControlPlaneScaleRules, kubeadmControlPlaneTemplateRules } from "./kubeadmcontrolplane.ts";
import { machineRules } from "./machine.ts";
import { machineDeploymentRules } from "./machinedeployment.ts";
import { machineHealthCheckRules } from "./machinehealthcheck.ts";
import { machineSetRules } from "./machineset.ts";
import { type Draft, type Findings, Refusal, type RuleSet, type WebhookContext, type WebhookRequest } from "./rule-set.ts";

export type { Findings, ListRead, ObjectRead, Read, RuleSet, WebhookContext, WebhookRequest } from "./rule-set.ts";

export const ruleSets: readonly RuleSet[] = [
  clusterRules,
  clusterClassRules,
  machineDeploymentRules,
  machineSetRules,
  machineRules,
  machineHealthCheckRules,
  kubeadmConfigRules,
  kubeadmConfigTemplateRules,
  kubeadmControlPlaneRules,
  kubeadmControlPlaneScaleRules,
  kubeadmControlPlaneTemplateRules,
  extensionConfigRules,
  devClusterRules,
  devClusterTemplateRules,
  devMachineRules,
  devMachineTemplateRules,
];

export const contextOf = (request: WebhookRequest, { found, listed }: Findings, gate: WebhookContext["gate"]): WebhookContext => ({
  verb: request.verb,
  dryRun: request.dryRun,
  found,
  listed,
  gate,
  ...(request.old ? { old: request.old } : {}),
});

/** The object with defaults; the same one when nothing was missing. Throws Refusal */
export function runDefaults(rules: RuleSet, request: WebhookRequest, context: WebhookContext): KubeObject {
  if (!rules.defaults || request.verb === "delete") return request.object;
  const fault = decodeFault(rules.kind.schema, withoutMetadata(request.object));
  if (fault) throw new Refusal(400, `${rules.kind.resource.kind} cannot be decoded: ${fault}`);
  return rules.defaults(request.object, context);
}

/** All faults at once. Throws Refusal */
export const runValidation = (rules: RuleSet, request: WebhookRequest, context: WebhookContext): readonly FieldError[] =>
  rules.validate?.(request.object, context) ?? [];

// The server has decoded these itself.
const withoutMetadata = ({ metadata: _metadata, ...rest }: Draft): object => rest;
