// Volumes that a Node still holds and that must be detached before its machine goes. Here: the rule as a pure function, and its reads.
// Source: spec/controllers/machine.md section 6.2.
import {
  type Node,
  type PersistentVolume,
  type Pod,
  persistentVolumeResource,
  type VolumeAttachment,
  volumeAttachmentResource,
} from "../../api/core/index.ts";
import type { WorkloadCluster } from "../workload/seam.ts";

export interface VolumeView {
  /** `status.volumesAttached[].name` of the Node. */
  readonly attachedNames: readonly string[];
  /** VolumeAttachments of the Node that say `attached`. */
  readonly attachments: readonly VolumeAttachment[];
  readonly volumes: readonly PersistentVolume[];
  /** `namespace/name` of claims of Pods that a drain leaves alone. */
  readonly skippedClaims: ReadonlySet<string>;
}

const CSI_PREFIX = "kubernetes.io/csi/";
const claimText = (volume: PersistentVolume): string | undefined => {
  const claim = volume.spec?.claimRef;
  return claim?.name ? `${claim.namespace}/${claim.name}` : undefined;
};

/** What must still be detached, for people; empty = done. @throws for an attachment without a volume name */
export function waitingVolumes(view: VolumeView): readonly string[] {
  const names = [...view.attachedNames, ...view.attachments.map(volumeName)];
  const waiting = new Set<string>();
  for (const name of names) {
    const volume = view.volumes.find((v) => isVolume(v, name));
    const claim = volume && claimText(volume);
    if (claim !== undefined && view.skippedClaims.has(claim)) continue;
    waiting.add(
      claim !== undefined ? `PersistentVolumeClaim ${claim}` : volume ? `PersistentVolume ${volume.metadata.name}` : `volume ${name}`,
    );
  }
  return [...waiting].sort();
}

function volumeName(attachment: VolumeAttachment): string {
  const name = attachment.spec?.source.persistentVolumeName;
  if (!name) throw new Error(`VolumeAttachment ${attachment.metadata.name} names no PersistentVolume`);
  return name;
}

const isVolume = (volume: PersistentVolume, name: string): boolean => {
  const csi = volume.spec?.csi;
  return volume.metadata.name === name || (csi !== undefined && name === `${CSI_PREFIX}${csi.driver}^${csi.volumeHandle}`);
};

/** Claims that these Pods use. */
export const claimsOf = (pods: readonly Pod[]): ReadonlySet<string> =>
  new Set(
    pods.flatMap((pod) =>
      (pod.spec?.volumes ?? []).flatMap((v) =>
        v.persistentVolumeClaim ? [`${pod.metadata.namespace}/${v.persistentVolumeClaim.claimName}`] : [],
      ),
    ),
  );

/** @param considerAttachments gate MachineWaitForVolumeDetachConsiderVolumeAttachments */
export async function readVolumes(
  { client }: WorkloadCluster,
  node: Node,
  considerAttachments: boolean,
  skippedPods: readonly Pod[],
): Promise<VolumeView> {
  const attachedNames = (node.status?.volumesAttached ?? []).map((v) => v.name);
  const attachments = considerAttachments
    ? (await client.list(volumeAttachmentResource)).items.filter(
        (a) => a.spec?.nodeName === node.metadata.name && a.status?.attached === true,
      )
    : [];
  const needed = attachedNames.length + attachments.length > 0;
  const volumes = needed ? (await client.list(persistentVolumeResource)).items : [];
  return { attachedNames, attachments, volumes, skippedClaims: claimsOf(skippedPods) };
}
