import { describe, expect, it } from "@jest/globals";
import { decodeProtobuf } from "./decode.ts";

const utf8 = new TextEncoder();
const join = (...parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));
const varint = (value: number | bigint): Uint8Array => {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Uint8Array.from(bytes);
};
const number = (field: number, value: number | bigint): Uint8Array => join(varint((field << 3) | 0), varint(value));
const chunk = (field: number, value: Uint8Array | string): Uint8Array => {
  const bytes = typeof value === "string" ? utf8.encode(value) : value;
  return join(varint((field << 3) | 2), varint(bytes.byteLength), bytes);
};
const body = (apiVersion: string, kind: string, object: Uint8Array): Uint8Array =>
  join(utf8.encode("k8s\0"), chunk(1, join(chunk(1, apiVersion), chunk(2, kind))), chunk(2, object), chunk(3, ""), chunk(4, ""));

describe("decodeProtobuf", () => {
  it("reads what kubectl sends for a ConfigMap", () => {
    // kubectl create configmap a --from-literal=x=1, recorded
    const hex = "6b3873000a0f0a02763112" + "09436f6e6669674d6170121b0a110a016112001a0022002a00320038004200120" + "60a01781201311a002200";
    const bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
    expect(decodeProtobuf(bytes)).toMatchObject({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", namespace: "", creationTimestamp: null },
      data: { x: "1" },
    });
  });

  it.each([
    [
      "times",
      "coordination.k8s.io/v1",
      "Lease",
      chunk(2, chunk(4, join(number(1, 1_577_934_245), number(2, 6_000)))),
      { spec: { renewTime: "2020-01-02T03:04:05.000006Z" } },
    ],
    ["negative numbers", "v1", "PodTemplate", chunk(2, chunk(2, number(5, -3n))), { template: { spec: { activeDeadlineSeconds: -3 } } }],
    ["bytes", "v1", "Secret", chunk(2, join(chunk(1, "k"), chunk(2, Uint8Array.from([0, 255])))), { data: { k: "AP8=" } }],
    [
      "an int or a string",
      "v1",
      "Service",
      chunk(2, chunk(1, join(number(3, 80), chunk(4, join(number(1, 1), chunk(3, "http")))))),
      { spec: { ports: [{ port: 80, targetPort: "http" }] } },
    ],
    [
      "embedded structs",
      "v1",
      "Pod",
      chunk(2, chunk(1, join(chunk(1, "v"), chunk(2, chunk(2, chunk(1, "Memory")))))),
      { spec: { volumes: [{ name: "v", emptyDir: { medium: "Memory" } }] } },
    ],
    [
      "quantities",
      "v1",
      "Node",
      chunk(3, chunk(1, join(chunk(1, "cpu"), chunk(2, chunk(1, "2"))))),
      { status: { capacity: { cpu: "2" } } },
    ],
    ["an empty value of a map", "v1", "ConfigMap", chunk(2, chunk(1, "k")), { data: { k: "" } }],
    ["fields nobody knows", "v1", "ConfigMap", join(number(99, 1), chunk(98, "x"), number(4, 1)), { immutable: true }],
    ["delete options of any version", "policy/v1", "DeleteOptions", chunk(4, "Foreground"), { propagationPolicy: "Foreground" }],
  ])("reads %s", (_what, apiVersion, kind, object, expected) => {
    expect(decodeProtobuf(body(apiVersion, kind, object))).toMatchObject({ apiVersion, kind, ...expected });
  });

  it.each([
    ["bytes that are no protobuf", utf8.encode("{}"), /does not begin/],
    ["a garbage body behind the mark", join(utf8.encode("k8s\0"), Uint8Array.from([0x0a, 0x7f, 1])), /longer than/],
    ["a field that is cut short", body("v1", "ConfigMap", Uint8Array.from([0x12, 0x20, 1])), /longer than/],
    ["a custom resource", body("example.com/v1", "Machine", new Uint8Array()), /send JSON/],
    ["a number where a text belongs", body("v1", "Secret", number(3, 1)), /not the form/],
  ])("refuses %s", (_what, bytes, message) => {
    expect(() => decodeProtobuf(bytes)).toThrow(message);
  });
});
