// A Status in Kubernetes' protobuf form: the one answer that a client which takes nothing else can be given.
// Source: k8s.io/apimachinery meta/v1 generated.proto; Protocol Buffers encoding.
import type { Status } from "../../api/meta/status.ts";

export const PROTOBUF = "application/vnd.kubernetes.protobuf";

const utf8 = new TextEncoder();

function varint(value: number): readonly number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest = Math.floor(rest / 128);
  }
  return [...bytes, rest];
}

const chunk = (field: number, content: string | readonly number[]): readonly number[] => {
  const bytes = typeof content === "string" ? [...utf8.encode(content)] : content;
  return [...varint((field << 3) | 2), ...varint(bytes.length), ...bytes];
};
const integer = (field: number, value: number): readonly number[] => [...varint(field << 3), ...varint(value)];

function detailsBytes(details: NonNullable<Status["details"]>): readonly number[] {
  const causes = (details.causes ?? []).flatMap(({ reason = "", message = "", field = "" }) =>
    chunk(4, [...chunk(1, reason), ...chunk(2, message), ...chunk(3, field)]),
  );
  return [
    ...chunk(1, details.name ?? ""),
    ...chunk(2, details.group ?? ""),
    ...chunk(3, details.kind ?? ""),
    ...causes,
    ...integer(5, details.retryAfterSeconds ?? 0),
    ...chunk(6, details.uid ?? ""),
  ];
}

export function encodeStatus(status: Status): Uint8Array {
  const listMeta = [...chunk(1, ""), ...chunk(2, ""), ...chunk(3, "")];
  const { details } = status;
  const object = [
    ...chunk(1, listMeta),
    ...chunk(2, status.status),
    ...chunk(3, status.message ?? ""),
    ...chunk(4, status.reason ?? ""),
    ...(details === undefined || Object.keys(details).length === 0 ? [] : chunk(5, detailsBytes(details))),
    ...integer(6, status.code),
  ];
  const typeMeta = [...chunk(1, "v1"), ...chunk(2, "Status")];
  return Uint8Array.from([...utf8.encode("k8s\0"), ...chunk(1, typeMeta), ...chunk(2, object), ...chunk(3, ""), ...chunk(4, "")]);
}
