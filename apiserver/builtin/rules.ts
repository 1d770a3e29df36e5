// Rules that hold for a served type wherever it stands: required fields and closed sets of values.
// Here: the tables and the walk that applies them. Not here: rules that compare fields or objects (strategies/).
import type { StatusCause } from "../../api/meta/status.ts";
import { fieldInvalid, fieldNotSupported, fieldRequired } from "../errors.ts";
import type { Field, FieldType, TypeSet } from "./types.ts";

/** Fields that must be there and not be empty. */
const REQUIRED = `
core.PodSpec containers
core.Container name image
core.EphemeralContainer name image
core.ContainerPort containerPort
core.EnvVar name
core.Volume name
core.VolumeMount name mountPath
core.VolumeDevice name devicePath
core.Taint key effect
core.ServicePort port
core.SecretKeySelector key
core.ConfigMapKeySelector key
core.HTTPGetAction port
core.TCPSocketAction port
core.HostPathVolumeSource path
core.KeyToPath key path
core.PersistentVolumeSpec accessModes capacity
core.PersistentVolumeClaimSpec accessModes
core.NodeSelector nodeSelectorTerms
core.NodeSelectorRequirement key operator
core.TopologySpreadConstraint topologyKey
core.PodAffinityTerm topologyKey
core.ScopedResourceSelectorRequirement scopeName
meta.LabelSelectorRequirement key operator
apps.DeploymentSpec selector
apps.DaemonSetSpec selector
apps.ReplicaSetSpec selector
apps.StatefulSetSpec selector
rbac.RoleRef name
rbac.Subject name
rbac.PolicyRule verbs
admissionregistration.ValidatingWebhook name sideEffects admissionReviewVersions
admissionregistration.MutatingWebhook name sideEffects admissionReviewVersions
admissionregistration.RuleWithOperations operations apiGroups apiVersions resources
admissionregistration.ServiceReference name namespace
admissionregistration.MatchCondition name expression
storage.StorageClass provisioner
storage.VolumeAttachmentSpec attacher nodeName
storage.CSINodeDriver name nodeID
discovery.EndpointSlice addressType
apiregistration.APIServiceSpec group version
`;

/** Closed sets of values. */
const VALUES = `
core.PodSpec restartPolicy=Always,OnFailure,Never dnsPolicy=ClusterFirst,ClusterFirstWithHostNet,Default,None preemptionPolicy=Never,PreemptLowerPriority
core.Container imagePullPolicy=Always,IfNotPresent,Never terminationMessagePolicy=FallbackToLogsOnError,File
core.EphemeralContainer imagePullPolicy=Always,IfNotPresent,Never terminationMessagePolicy=FallbackToLogsOnError,File
core.ContainerPort protocol=SCTP,TCP,UDP
core.HTTPGetAction scheme=HTTP,HTTPS
core.Taint effect=NoSchedule,PreferNoSchedule,NoExecute
core.Toleration operator=Equal,Exists effect=NoSchedule,PreferNoSchedule,NoExecute
core.NodeSelectorRequirement operator=DoesNotExist,Exists,Gt,In,Lt,NotIn
core.TopologySpreadConstraint whenUnsatisfiable=DoNotSchedule,ScheduleAnyway nodeAffinityPolicy=Honor,Ignore nodeTaintsPolicy=Honor,Ignore
core.HostPathVolumeSource type=,BlockDevice,CharDevice,Directory,DirectoryOrCreate,File,FileOrCreate,Socket
core.ServiceSpec type=ClusterIP,ExternalName,LoadBalancer,NodePort sessionAffinity=ClientIP,None externalTrafficPolicy=Cluster,Local internalTrafficPolicy=Cluster,Local ipFamilies=IPv4,IPv6 ipFamilyPolicy=PreferDualStack,RequireDualStack,SingleStack
core.ServicePort protocol=SCTP,TCP,UDP
core.EndpointPort protocol=SCTP,TCP,UDP
core.PersistentVolumeSpec accessModes=ReadOnlyMany,ReadWriteMany,ReadWriteOnce,ReadWriteOncePod persistentVolumeReclaimPolicy=Delete,Recycle,Retain volumeMode=Block,Filesystem
core.PersistentVolumeClaimSpec accessModes=ReadOnlyMany,ReadWriteMany,ReadWriteOnce,ReadWriteOncePod volumeMode=Block,Filesystem
meta.LabelSelectorRequirement operator=DoesNotExist,Exists,In,NotIn
apps.DeploymentStrategy type=Recreate,RollingUpdate
apps.DaemonSetUpdateStrategy type=OnDelete,RollingUpdate
apps.StatefulSetUpdateStrategy type=OnDelete,RollingUpdate
apps.StatefulSetSpec podManagementPolicy=OrderedReady,Parallel
policy.PodDisruptionBudgetSpec unhealthyPodEvictionPolicy=AlwaysAllow,IfHealthyBudget
storage.StorageClass reclaimPolicy=Delete,Retain volumeBindingMode=Immediate,WaitForFirstConsumer
storage.CSIDriverSpec fsGroupPolicy=File,None,ReadWriteOnceWithFSType volumeLifecycleModes=Ephemeral,Persistent
discovery.EndpointSlice addressType=FQDN,IPv4,IPv6
discovery.EndpointPort protocol=SCTP,TCP,UDP
rbac.Subject kind=Group,ServiceAccount,User
admissionregistration.ValidatingWebhook failurePolicy=Fail,Ignore matchPolicy=Equivalent,Exact sideEffects=None,NoneOnDryRun
admissionregistration.MutatingWebhook failurePolicy=Fail,Ignore matchPolicy=Equivalent,Exact sideEffects=None,NoneOnDryRun reinvocationPolicy=IfNeeded,Never
admissionregistration.RuleWithOperations operations=*,CONNECT,CREATE,DELETE,UPDATE scope=*,Cluster,Namespaced
`;

/** Whole numbers from zero. */
const NOT_NEGATIVE = `
core.PodSpec terminationGracePeriodSeconds
apps.DeploymentSpec replicas minReadySeconds revisionHistoryLimit progressDeadlineSeconds
apps.DaemonSetSpec minReadySeconds revisionHistoryLimit
apps.ReplicaSetSpec replicas minReadySeconds
apps.StatefulSetSpec replicas minReadySeconds revisionHistoryLimit
core.Probe initialDelaySeconds timeoutSeconds periodSeconds successThreshold failureThreshold
core.Event count
`;

type Check = (value: unknown, path: string, causes: StatusCause[]) => void;

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || value === 0 || (Array.isArray(value) && value.length === 0);

function readTable(text: string): ReadonlyMap<string, readonly string[]> {
  return new Map(
    text
      .trim()
      .split("\n")
      .map((line) => {
        const [key = "", ...words] = line.split(" ");
        return [key, words] as const;
      }),
  );
}

export interface TypeRules {
  /** Causes of everything in `value` that breaks a rule of its type, in field order. @param path where the value stands, e.g. `spec` */
  check(typeKey: string, value: unknown, path: string): readonly StatusCause[];
}

export function createRules(types: TypeSet): TypeRules {
  const required = readTable(REQUIRED);
  const values = readTable(VALUES);
  const notNegative = readTable(NOT_NEGATIVE);
  const made = new Map<string, Check | null>();

  function checkOf(type: FieldType): Check | null {
    if (type.is === "scalar") return null;
    if (type.is === "type") return type.loose ? null : structCheck(type.key);
    const item = checkOf(type.of);
    if (!item) return null;
    if (type.is === "list") {
      return (value, path, causes) => {
        if (Array.isArray(value)) for (const [i, entry] of value.entries()) item(entry, `${path}[${i}]`, causes);
      };
    }
    return (value, path, causes) => {
      for (const [key, entry] of Object.entries((value ?? {}) as object)) item(entry, `${path}[${key}]`, causes);
    };
  }

  function ownCheck(key: string, name: string): Check | null {
    const checks: Check[] = [];
    if (required.get(key)?.includes(name)) {
      checks.push((value, path, causes) => {
        if (isEmpty(value)) causes.push(fieldRequired(path));
      });
    }
    const allowed = values
      .get(key)
      ?.find((word) => word.startsWith(`${name}=`))
      ?.slice(name.length + 1)
      .split(",");
    if (allowed) {
      const one: Check = (value, path, causes) => {
        if (typeof value === "string" && (value !== "" || allowed.includes("")) && !allowed.includes(value)) {
          causes.push(fieldNotSupported(path, value, allowed));
        }
      };
      checks.push((value, path, causes) => {
        if (!Array.isArray(value)) one(value, path, causes);
        else for (const [i, v] of value.entries()) one(v, `${path}[${i}]`, causes);
      });
    }
    if (notNegative.get(key)?.includes(name)) {
      checks.push((value, path, causes) => {
        if (typeof value === "number" && value < 0) causes.push(fieldInvalid(path, value, "must be greater than or equal to 0"));
      });
    }
    if (checks.length === 0) return null;
    return (value, path, causes) => {
      for (const check of checks) check(value, path, causes);
    };
  }

  function fieldCheck(key: string, field: Field): Check | null {
    const own = ownCheck(key, field.name);
    const below = checkOf(field.type);
    if (!own || !below) return own ?? below;
    return (value, path, causes) => {
      own(value, path, causes);
      if (value !== undefined && value !== null) below(value, path, causes);
    };
  }

  function structCheck(key: string): Check | null {
    const known = made.get(key);
    if (known !== undefined) return known;
    made.set(key, null); // a type inside itself has no rules
    const checks = [...types.get(key).fields.values()].flatMap((field) => {
      const check = fieldCheck(key, field);
      return check ? [{ name: field.name, check }] : [];
    });
    const struct: Check | null =
      checks.length === 0
        ? null
        : (value, path, causes) => {
            if (typeof value !== "object" || value === null) return;
            const fields = value as Record<string, unknown>;
            for (const { name, check } of checks) {
              const field = fields[name];
              const at = path === "" ? name : `${path}.${name}`;
              // An absent struct has no fields to judge; its own rules (required) run all the same.
              if (field !== undefined || required.get(key)?.includes(name)) check(field, at, causes);
            }
          };
    made.set(key, struct);
    return struct;
  }

  return {
    check(typeKey, value, path) {
      const causes: StatusCause[] = [];
      structCheck(typeKey)?.(value, path, causes);
      return causes;
    },
  };
}
