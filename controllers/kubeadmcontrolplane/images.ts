// Container images in parts, and what an upgrade makes of those of kube-proxy and CoreDNS. Pure.
// Source: spec/controllers/workload-cluster.md section 6; the distribution reference grammar for names and tags.
import { parseVersion } from "../rollout/versions.ts";

export interface Image {
  /** With registry and path, without the image's own name. */
  readonly repository: string;
  readonly name: string;
  readonly tag: string;
}

export class ImageInvalid extends Error {
  readonly code = "ImageInvalid";
}

/** @throws ImageInvalid for an image without a tag */
export function parseImage(text: string): Image {
  const slash = text.lastIndexOf("/");
  const [last = "", digest] = text.slice(slash + 1).split("@", 2);
  const colon = last.lastIndexOf(":");
  if (colon < 0) throw new ImageInvalid(`image "${text}" has no tag: ${digest ? "a digest cannot be upgraded" : "write one"}`);
  return { repository: slash < 0 ? "" : text.slice(0, slash), name: last.slice(0, colon), tag: last.slice(colon + 1) };
}

export const formatImage = ({ repository, name, tag }: Image): string => `${repository === "" ? "" : `${repository}/`}${name}:${tag}`;

/** A version as an image tag. */
export const tagOf = (version: string): string => version.replaceAll("+", "_");

/** @param repository undefined or empty: stays */
export const proxyImage = (current: string, version: string, repository: string | undefined): string => {
  const image = parseImage(current);
  return formatImage({ ...image, tag: tagOf(version), ...(repository ? { repository } : {}) });
};

const UPSTREAM = "registry.k8s.io";

/** @param wanted what the control plane says of dns; undefined parts stay */
export function dnsImage(
  current: string,
  wanted: { readonly dnsRepository?: string; readonly dnsTag?: string; readonly imageRepository?: string },
): string {
  const { repository: fullRepository, name, tag: currentTag } = parseImage(current);
  const nested = fullRepository === `${UPSTREAM}/coredns`;
  const present = nested ? UPSTREAM : fullRepository;
  const repository = wanted.dnsRepository || wanted.imageRepository || present;
  const tag = wanted.dnsTag || currentTag;
  const { major, minor } = parseVersion(plainVersion(tag));
  // In the default repository the image moved into a folder of its own.
  const inFolder = repository === UPSTREAM && name === "coredns" && (major > 1 || minor >= 8);
  return formatImage({ repository: inFolder ? `${repository}/coredns` : repository, name, tag });
}

/** `v1.12.1_vendor.3` -> `1.12.1`. @throws ImageInvalid when it is no version */
export function plainVersion(tag: string): string {
  const match = /^v?(\d+\.\d+\.\d+)/.exec(tag);
  if (!match?.[1]) throw new ImageInvalid(`tag "${tag}" is no version: use one such as v1.12.1`);
  return match[1];
}
