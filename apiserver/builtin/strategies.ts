// Which strategy a kind has. Here: the table. Not here: the strategies (strategies/).
import type { Strategy } from "../registry.ts";
import { configMapStrategy, secretStrategy } from "./strategies/config.ts";
import { coreEventStrategy, eventStrategy } from "./strategies/event.ts";
import { namespaceStrategy } from "./strategies/namespace.ts";
import {
  apiServiceStrategy,
  controllerRevisionStrategy,
  csiDriverStrategy,
  csiNodeStrategy,
  endpointSliceStrategy,
  leaseStrategy,
  nodeStrategy,
  persistentVolumeClaimStrategy,
  persistentVolumeStrategy,
  plain,
  plainUpsert,
  podDisruptionBudgetStrategy,
  priorityClassStrategy,
  returnsObject,
  serviceAccountStrategy,
  storageClassStrategy,
  volumeAttachmentStrategy,
} from "./strategies/others.ts";
import { podStrategy } from "./strategies/pod.ts";
import { clusterRoleBindingStrategy, clusterRoleStrategy, roleBindingStrategy, roleStrategy } from "./strategies/rbac.ts";
import { serviceStrategy } from "./strategies/service.ts";
import { webhookConfigurationStrategy } from "./strategies/webhook.ts";
import { daemonSetStrategy, deploymentStrategy, replicaSetStrategy, statefulSetStrategy } from "./strategies/workload.ts";

const STRATEGIES: Readonly<Record<string, Strategy>> = {
  "/ConfigMap": configMapStrategy,
  "/Endpoints": plainUpsert,
  "/Event": coreEventStrategy,
  "/LimitRange": plainUpsert,
  "/Namespace": namespaceStrategy,
  "/Node": nodeStrategy,
  "/PersistentVolume": persistentVolumeStrategy,
  "/PersistentVolumeClaim": persistentVolumeClaimStrategy,
  "/Pod": podStrategy,
  "/PodTemplate": returnsObject,
  "/ResourceQuota": returnsObject,
  "/Secret": secretStrategy,
  "/Service": serviceStrategy,
  "/ServiceAccount": serviceAccountStrategy,
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": webhookConfigurationStrategy,
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": webhookConfigurationStrategy,
  "apiextensions.k8s.io/CustomResourceDefinition": { generation: "spec", allowUnconditionalUpdate: false },
  "apiregistration.k8s.io/APIService": apiServiceStrategy,
  "apps/ControllerRevision": controllerRevisionStrategy,
  "apps/DaemonSet": daemonSetStrategy,
  "apps/Deployment": deploymentStrategy,
  "apps/ReplicaSet": replicaSetStrategy,
  "apps/StatefulSet": statefulSetStrategy,
  "coordination.k8s.io/Lease": leaseStrategy,
  "discovery.k8s.io/EndpointSlice": endpointSliceStrategy,
  "events.k8s.io/Event": eventStrategy,
  "policy/PodDisruptionBudget": podDisruptionBudgetStrategy,
  "rbac.authorization.k8s.io/ClusterRole": clusterRoleStrategy,
  "rbac.authorization.k8s.io/ClusterRoleBinding": clusterRoleBindingStrategy,
  "rbac.authorization.k8s.io/Role": roleStrategy,
  "rbac.authorization.k8s.io/RoleBinding": roleBindingStrategy,
  "scheduling.k8s.io/PriorityClass": priorityClassStrategy,
  "storage.k8s.io/CSIDriver": csiDriverStrategy,
  "storage.k8s.io/CSINode": csiNodeStrategy,
  "storage.k8s.io/StorageClass": storageClassStrategy,
  "storage.k8s.io/VolumeAttachment": volumeAttachmentStrategy,
};

export const strategyOf = (group: string, kind: string): Strategy => STRATEGIES[`${group}/${kind}`] ?? plain;
