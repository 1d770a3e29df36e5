// What the field list does not say: which fields are written when unset, how lists merge, which strings are quantities.
// Here: facts of the Kubernetes 1.36 API as tables, one type a line. Not here: names and types (fields.data.ts), defaults (defaults.ts),
// rules (rules.ts). Source: the Go types of k8s.io/api and their struct tags.

/**
 * Where a field departs from the rule (required: always written; optional struct, time, int-or-string, anything: written as given;
 * other optional fields: left out when zero). Marks: `!` always written, with its zero value when unset; `?` written as given;
 * `~` left out when zero; `#` null when unset.
 */
export const PRESENCE = `
admissionregistration.MutatingWebhook failurePolicy? matchPolicy? reinvocationPolicy? sideEffects# timeoutSeconds?
admissionregistration.RuleWithOperations scope?
admissionregistration.ServiceReference path? port?
admissionregistration.ValidatingWebhook failurePolicy? matchPolicy? sideEffects# timeoutSeconds?
admissionregistration.WebhookClientConfig url?
apiextensions.CustomResourceDefinition status!
apiextensions.CustomResourceDefinitionCondition lastTransitionTime!
apiextensions.CustomResourceDefinitionStatus acceptedNames! conditions! storedVersions!
apiextensions.CustomResourceDefinitionVersion deprecationWarning?
apiextensions.CustomResourceSubresourceScale labelSelectorPath?
apiextensions.JSONSchemaProps $ref? maxItems? maxLength? maxProperties? maximum? minItems? minLength? minProperties? minimum? multipleOf? x-kubernetes-list-type? x-kubernetes-map-type? x-kubernetes-preserve-unknown-fields?
apiextensions.ServiceReference path? port?
apiextensions.ValidationRule optionalOldSelf? reason?
apiextensions.WebhookClientConfig url?
apiregistration.APIService spec! status!
apiregistration.APIServiceCondition lastTransitionTime!
apiregistration.ServiceReference port?
apps.ControllerRevision data!
apps.DaemonSet spec! status!
apps.DaemonSetCondition lastTransitionTime!
apps.DaemonSetSpec revisionHistoryLimit? selector# updateStrategy!
apps.DaemonSetStatus collisionCount?
apps.Deployment spec! status!
apps.DeploymentCondition lastTransitionTime! lastUpdateTime!
apps.DeploymentSpec progressDeadlineSeconds? replicas? revisionHistoryLimit? selector# strategy!
apps.DeploymentStatus collisionCount? terminatingReplicas?
apps.ReplicaSet spec! status!
apps.ReplicaSetCondition lastTransitionTime!
apps.ReplicaSetSpec replicas? selector# template!
apps.ReplicaSetStatus terminatingReplicas?
apps.RollingUpdateStatefulSetStrategy partition?
apps.StatefulSet spec! status!
apps.StatefulSetCondition lastTransitionTime!
apps.StatefulSetOrdinals start!
apps.StatefulSetSpec replicas? revisionHistoryLimit? selector# serviceName! updateStrategy!
apps.StatefulSetStatus availableReplicas! collisionCount?
authentication.SelfSubjectReview status!
authentication.SelfSubjectReviewStatus userInfo!
authentication.TokenRequest spec! status!
authentication.TokenRequestSpec audiences! boundObjectRef# expirationSeconds#
authentication.TokenRequestStatus expirationTimestamp! token!
authentication.TokenReview status!
authentication.TokenReviewSpec token~
authentication.TokenReviewStatus user!
authorization.LocalSubjectAccessReview status!
authorization.SelfSubjectAccessReview status!
authorization.SelfSubjectRulesReview status!
authorization.SubjectAccessReview status!
autoscaling.Scale spec! status!
coordination.Lease spec!
coordination.LeaseSpec holderIdentity? leaseDurationSeconds? leaseTransitions? preferredHolder? strategy?
core.AppArmorProfile localhostProfile?
core.AzureDiskVolumeSource cachingMode? fsType? kind? readOnly?
core.AzureFilePersistentVolumeSource secretNamespace#
core.CSIVolumeSource fsType? readOnly?
core.ClientIPConfig timeoutSeconds?
core.ClusterTrustBundleProjection name? optional? signerName?
core.ConfigMap immutable?
core.ConfigMapEnvSource optional?
core.ConfigMapKeySelector optional?
core.ConfigMapProjection optional?
core.ConfigMapVolumeSource defaultMode? optional?
core.Container resources! restartPolicy?
core.ContainerImage names!
core.ContainerRestartRule action~
core.ContainerRestartRuleOnExitCodes operator~
core.ContainerStateRunning startedAt!
core.ContainerStateTerminated finishedAt! startedAt!
core.ContainerStatus lastState! started? state! stopSignal?
core.DownwardAPIVolumeFile mode?
core.DownwardAPIVolumeSource defaultMode?
core.EmptyDirVolumeSource sizeLimit?
core.EndpointAddress nodeName?
core.EndpointPort appProtocol?
core.EphemeralContainer resources! restartPolicy?
core.Event eventTime! firstTimestamp! lastTimestamp! reportingComponent! reportingInstance! source!
core.EventSeries lastObservedTime!
core.FCVolumeSource lun?
core.FileKeySelector optional?
core.GRPCAction service#
core.GlusterfsPersistentVolumeSource endpointsNamespace?
core.HostPathVolumeSource type?
core.ISCSIPersistentVolumeSource initiatorName?
core.ISCSIVolumeSource initiatorName?
core.ImageVolumeStatus imageRef~
core.KeyToPath mode?
core.Lifecycle stopSignal?
core.LimitRange spec!
core.LoadBalancerIngress ipMode?
core.LocalVolumeSource fsType?
core.Namespace spec! status!
core.NamespaceCondition lastTransitionTime!
core.Node spec! status!
core.NodeCondition lastHeartbeatTime! lastTransitionTime!
core.NodeDaemonEndpoints kubeletEndpoint!
core.NodeFeatures supplementalGroupsPolicy?
core.NodeRuntimeHandler name!
core.NodeRuntimeHandlerFeatures recursiveReadOnlyMounts? userNamespaces?
core.NodeStatus daemonEndpoints! nodeInfo!
core.NodeSwapStatus capacity?
core.PersistentVolume spec! status!
core.PersistentVolumeClaim spec! status!
core.PersistentVolumeClaimCondition lastProbeTime! lastTransitionTime!
core.PersistentVolumeClaimSpec resources! storageClassName? volumeAttributesClassName? volumeMode?
core.PersistentVolumeClaimStatus currentVolumeAttributesClassName?
core.PersistentVolumeClaimTemplate metadata!
core.PersistentVolumeSpec volumeAttributesClassName? volumeMode?
core.Pod spec! status!
core.PodCertificateProjection keyType~ maxExpirationSeconds? signerName~
core.PodCondition lastProbeTime! lastTransitionTime!
core.PodDNSConfigOption value?
core.PodResourceClaim resourceClaimName? resourceClaimTemplateName?
core.PodResourceClaimStatus resourceClaimName?
core.PodSchedulingGroup podGroupName?
core.PodSecurityContext fsGroup? fsGroupChangePolicy? runAsGroup? runAsNonRoot? runAsUser? seLinuxChangePolicy? supplementalGroupsPolicy?
core.PodSpec activeDeadlineSeconds? automountServiceAccountToken? enableServiceLinks? hostUsers? hostnameOverride? preemptionPolicy? priority? runtimeClassName? setHostnameAsFQDN? shareProcessNamespace? terminationGracePeriodSeconds?
core.PodTemplate template!
core.PodTemplateSpec metadata! spec!
core.PortStatus error?
core.Probe terminationGracePeriodSeconds?
core.ProjectedVolumeSource defaultMode? sources!
core.ResourceFieldSelector divisor!
core.ResourceHealth message?
core.ResourceQuota spec! status!
core.ScaleIOPersistentVolumeSource secretRef#
core.ScaleIOVolumeSource secretRef#
core.SeccompProfile localhostProfile?
core.Secret immutable?
core.SecretEnvSource optional?
core.SecretKeySelector optional?
core.SecretProjection optional?
core.SecretVolumeSource defaultMode? optional?
core.SecurityContext allowPrivilegeEscalation? privileged? procMount? readOnlyRootFilesystem? runAsGroup? runAsNonRoot? runAsUser?
core.Service spec! status!
core.ServiceAccount automountServiceAccountToken?
core.ServiceAccountTokenProjection expirationSeconds?
core.ServicePort appProtocol? targetPort!
core.ServiceSpec allocateLoadBalancerNodePorts? internalTrafficPolicy? ipFamilyPolicy? loadBalancerClass? trafficDistribution?
core.ServiceStatus loadBalancer!
core.Toleration tolerationSeconds?
core.TopologySpreadConstraint minDomains? nodeAffinityPolicy? nodeTaintsPolicy?
core.TypedLocalObjectReference apiGroup#
core.TypedObjectReference apiGroup# namespace?
core.VolumeMount mountPropagation? recursiveReadOnly?
core.VolumeMountStatus recursiveReadOnly?
core.WindowsSecurityContextOptions gmsaCredentialSpec? gmsaCredentialSpecName? hostProcess? runAsUserName?
discovery.Endpoint conditions! hostname? nodeName? zone?
discovery.EndpointConditions ready? serving? terminating?
discovery.EndpointPort appProtocol? name? port? protocol?
discovery.EndpointSlice endpoints! ports!
events.Event deprecatedFirstTimestamp! deprecatedLastTimestamp! deprecatedSource! regarding!
meta.DeleteOptions gracePeriodSeconds? ignoreStoreReadErrorWithClusterBreakingPotential? orphanDependents? propagationPolicy?
meta.ObjectMeta deletionGracePeriodSeconds?
meta.OwnerReference blockOwnerDeletion? controller?
meta.Preconditions resourceVersion? uid?
policy.PodDisruptionBudget spec! status!
policy.PodDisruptionBudgetSpec unhealthyPodEvictionPolicy?
policy.PodDisruptionBudgetStatus currentHealthy! desiredHealthy! disruptionsAllowed! expectedPods!
rbac.ClusterRole rules!
rbac.Role rules!
rbac.RoleRef apiGroup!
scheduling.PriorityClass preemptionPolicy? value!
storage.CSIDriverSpec attachRequired? fsGroupPolicy? nodeAllocatableUpdatePeriodSeconds? podInfoOnMount? preventPodSchedulingIfMissing? requiresRepublish? seLinuxMount? serviceAccountTokenInSecrets? storageCapacity?
storage.CSINodeDriver topologyKeys!
storage.StorageClass allowVolumeExpansion? reclaimPolicy? volumeBindingMode?
storage.TokenRequest expirationSeconds?
storage.VolumeAttachment status!
storage.VolumeAttachmentSource persistentVolumeName?
storage.VolumeError errorCode? time!
storage.VolumeNodeResources count?
`;

/**
 * How lists merge, where not atomic for apply and replaced by strategic patches. `f=k` map by k, merged by k; `f=k,l` map by k and l,
 * merged by k; trailing `-` no strategic merge; `set`, `atomic`; `+strategy/key` another patch strategy and merge key.
 */
export const LISTS = `
admissionregistration.MutatingWebhook matchConditions=name
admissionregistration.MutatingWebhookConfiguration webhooks=name
admissionregistration.ValidatingWebhook matchConditions=name
admissionregistration.ValidatingWebhookConfiguration webhooks=name
apiextensions.CustomResourceDefinitionStatus conditions=type-
apiextensions.JSONSchemaProps x-kubernetes-validations=rule
apps.DaemonSetStatus conditions=type
apps.DeploymentSpec strategy=+retainKeys
apps.DeploymentStatus conditions=type
apps.ReplicaSetStatus conditions=type
apps.StatefulSetStatus conditions=type
core.Container env=name ports=containerPort,protocol volumeDevices=devicePath volumeMounts=mountPath
core.ContainerRestartRuleOnExitCodes values=set
core.ContainerStatus allocatedResourcesStatus=name volumeMounts=mountPath
core.EphemeralContainer env=name ports=containerPort,protocol volumeDevices=devicePath volumeMounts=mountPath
core.NamespaceStatus conditions=type
core.NodeAllocatableResourceClaimStatus containers=set
core.NodeSpec podCIDRs=set+merge
core.NodeStatus addresses=type conditions=type
core.PersistentVolumeClaimStatus conditions=type
core.PodSpec containers=name ephemeralContainers=name hostAliases=ip imagePullSecrets=name initContainers=name nodeSelector=atomic resourceClaims=name+merge,retainKeys schedulingGates=name topologySpreadConstraints=topologyKey,whenUnsatisfiable volumes=name+merge,retainKeys
core.PodStatus conditions=type hostIPs=atomic+merge/ip nodeAllocatableResourceClaimStatuses=resourceClaimName podIPs=ip resourceClaimStatuses=name+merge,retainKeys
core.ResourceRequirements claims=name-
core.ResourceStatus resources=resourceID-
core.ServiceAccount secrets=name
core.ServiceSpec ports=port,protocol selector=atomic
core.ServiceStatus conditions=type
discovery.Endpoint addresses=set
meta.ObjectMeta finalizers=set+merge ownerReferences=uid
policy.PodDisruptionBudgetSpec selector=+replace
policy.PodDisruptionBudgetStatus conditions=type
storage.CSIDriverSpec volumeLifecycleModes=set
storage.CSINodeSpec drivers=name
`;

/** Types that apply treats as one value. */
export const ATOMIC = `
core.ConfigMapKeySelector core.EndpointAddress core.EndpointPort core.FileKeySelector core.LocalObjectReference
core.NodeSelector core.NodeSelectorTerm core.ObjectFieldSelector core.ObjectReference core.ResourceFieldSelector
core.ScopeSelector core.SecretKeySelector core.SecretReference core.TopologySelectorTerm core.TypedLocalObjectReference
discovery.EndpointPort meta.LabelSelector meta.OwnerReference rbac.RoleRef rbac.Subject
`;

/** Strings, or maps of strings, that hold resource quantities. */
export const QUANTITIES = `
core.NodeStatus allocatable capacity
core.PodSpec overhead
core.ResourceFieldSelector divisor
core.ResourceRequirements limits requests
core.EmptyDirVolumeSource sizeLimit
core.VolumeResourceRequirements limits requests
core.PodStatus allocatedResources
core.ContainerStatus allocatedResources
core.PersistentVolumeSpec capacity
core.PersistentVolumeClaimStatus allocatedResources capacity
core.ResourceQuotaSpec hard
core.ResourceQuotaStatus hard used
core.LimitRangeItem default defaultRequest max maxLimitRequestRatio min
`;

/** Fields without a type in the field list that hold a JSONSchemaProps, a list of such, or a boolean. */
export const LOOSE = `
apiextensions.JSONSchemaProps additionalItems additionalProperties items
`;
