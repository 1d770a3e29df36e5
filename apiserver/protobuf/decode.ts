// Bodies in Kubernetes' protobuf form, as typed Go clients send built-in kinds. Here: bytes to the JSON form of the object.
// Not here: field numbers (messages.data.ts), defaults and checks (the kind's decoder). Answers are always JSON: clients accept it too.
// Source: k8s.io/apimachinery runtime/serializer/protobuf; Protocol Buffers encoding.
import { MESSAGES } from "./messages.data.ts";

/** The bytes are no such message. Told by `code`. */
export class ProtobufError extends Error {
  readonly code = "ProtobufError";
}

type Value =
  | { readonly is: "string" | "bool" | "integer" | "double" | "bytes" }
  | { readonly is: "message"; readonly name: string }
  | { readonly is: "list" | "map"; readonly of: Value };

interface Field {
  readonly name: string;
  readonly value: Value;
  readonly inline: boolean;
}
type Message = ReadonlyMap<number, Field>;

const SCALARS: Readonly<Record<string, Value>> = {
  s: { is: "string" },
  b: { is: "bool" },
  i: { is: "integer" },
  d: { is: "double" },
  y: { is: "bytes" },
};
/** `k8s` and a zero byte stand before every body. */
const MAGIC = [0x6b, 0x38, 0x73, 0x00];
const DEPTH_MAX = 64;

function parseValue(code: string, own: string): Value {
  if (code.startsWith("[")) return { is: "list", of: parseValue(code.slice(1), own) };
  if (code.startsWith("{")) return { is: "map", of: parseValue(code.slice(1), own) };
  if (code.startsWith("@")) return { is: "message", name: code.includes(".") ? code.slice(1) : `${own}.${code.slice(1)}` };
  return SCALARS[code] ?? { is: "bytes" };
}

function parseField(text: string, own: string): readonly [number, Field] {
  const [, name = "", number = "", inline = "", code = ""] = /^(\w+)=(\d+)(\^?)(.+)$/.exec(text) ?? [];
  return [Number(number), { name, inline: inline !== "", value: parseValue(code, own) }];
}

let lines: ReadonlyMap<string, string> | undefined;
const messages = new Map<string, Message>();

/** Parsed when first asked for. */
function messageOf(name: string): Message | undefined {
  const known = messages.get(name);
  if (known) return known;
  lines ??= new Map(
    MESSAGES.trim()
      .split("\n")
      .map((line) => [line.split(" ", 1)[0] ?? "", line]),
  );
  const line = lines.get(name);
  if (line === undefined) return undefined;
  const own = name.split(".")[0] ?? "";
  const message: Message = new Map(
    line
      .split(" ")
      .slice(1)
      .map((text) => parseField(text, own)),
  );
  messages.set(name, message);
  return message;
}

const utf8 = new TextDecoder("utf-8");

/** A cursor over one message. */
class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }
  get done(): boolean {
    return this.#at >= this.#bytes.byteLength;
  }
  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) break;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw new ProtobufError("a number is cut short");
  }
  take(length: number): Uint8Array {
    const end = this.#at + length;
    if (!(length >= 0) || end > this.#bytes.byteLength) throw new ProtobufError("a field is longer than its message");
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
  chunk(): Uint8Array {
    return this.take(Number(this.varint()));
  }
  /** Content of a field of a wire type: a number, or bytes. */
  content(wireType: number): bigint | Uint8Array {
    if (wireType === 0) return this.varint();
    if (wireType === 1) return this.take(8);
    if (wireType === 2) return this.chunk();
    if (wireType === 5) return this.take(4);
    throw new ProtobufError(`unknown wire type ${wireType}`);
  }
}

function eachField(bytes: Uint8Array, visit: (number: number, content: bigint | Uint8Array) => void): void {
  const reader = new Reader(bytes);
  while (!reader.done) {
    const tag = Number(reader.varint());
    visit(tag >>> 3, reader.content(tag & 7));
  }
}

/** The fields of a small message by number. */
function fieldsOf(bytes: Uint8Array): ReadonlyMap<number, bigint | Uint8Array> {
  const found = new Map<number, bigint | Uint8Array>();
  eachField(bytes, (number, content) => found.set(number, content));
  return found;
}

const textAt = (fields: ReadonlyMap<number, bigint | Uint8Array>, number: number): string => {
  const content = fields.get(number);
  return content instanceof Uint8Array ? utf8.decode(content) : "";
};
const numberAt = (fields: ReadonlyMap<number, bigint | Uint8Array>, number: number): number => {
  const content = fields.get(number);
  return typeof content === "bigint" ? Number(content) : 0;
};

/** An empty message is the zero time: null. */
function timeText(bytes: Uint8Array, micro: boolean): string | null {
  if (bytes.byteLength === 0) return null;
  const fields = fieldsOf(bytes);
  const seconds = numberAt(fields, 1);
  const whole = new Date(seconds * 1_000).toISOString().slice(0, 19);
  const fraction = String(Math.floor(numberAt(fields, 2) / 1_000)).padStart(6, "0");
  return micro ? `${whole}.${fraction}Z` : `${whole}Z`;
}

const rawJson = (bytes: Uint8Array): unknown => {
  const raw = fieldsOf(bytes).get(1);
  if (!(raw instanceof Uint8Array) || raw.byteLength === 0) return null;
  try {
    return JSON.parse(utf8.decode(raw));
  } catch {
    throw new ProtobufError("a raw part is not JSON");
  }
};

function intOrString(bytes: Uint8Array): string | number {
  const fields = fieldsOf(bytes);
  return numberAt(fields, 1) === 1 ? textAt(fields, 3) : numberAt(fields, 2);
}

const SPECIAL: Readonly<Record<string, (bytes: Uint8Array) => unknown>> = {
  "meta.Time": (bytes) => timeText(bytes, false),
  "meta.MicroTime": (bytes) => timeText(bytes, true),
  "resource.Quantity": (bytes) => textAt(fieldsOf(bytes), 1),
  "intstr.IntOrString": intOrString,
  "meta.FieldsV1": rawJson,
  "runtime.RawExtension": rawJson,
  // Lists that are messages of their own.
  "authentication.ExtraValue": (bytes) => itemTexts(bytes),
  "authorization.ExtraValue": (bytes) => itemTexts(bytes),
};

function itemTexts(bytes: Uint8Array): readonly string[] {
  const items: string[] = [];
  eachField(bytes, (number, content) => {
    if (number === 1 && content instanceof Uint8Array) items.push(utf8.decode(content));
  });
  return items;
}

const base64 = (bytes: Uint8Array): string => {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
};

function scalar(value: Value, content: bigint | Uint8Array, depth: number): unknown {
  if (content instanceof Uint8Array) {
    if (value.is === "string") return utf8.decode(content);
    if (value.is === "bytes") return base64(content);
    if (value.is === "message") return message(value.name, content, depth + 1);
    if (value.is === "double" && content.byteLength === 8) return new DataView(content.buffer, content.byteOffset, 8).getFloat64(0, true);
  } else {
    if (value.is === "bool") return content !== 0n;
    if (value.is === "integer") return Number(content);
  }
  throw new ProtobufError(`a field has not the form of a ${value.is}`);
}

function put(into: Record<string, unknown>, field: Field, content: bigint | Uint8Array, depth: number): void {
  const { name, value } = field;
  if (value.is === "list") {
    const list = (into[name] ?? []) as unknown[];
    list.push(scalar(value.of, content, depth));
    into[name] = list;
  } else if (value.is === "map") {
    if (!(content instanceof Uint8Array)) throw new ProtobufError(`${name} is not a map`);
    const entry = fieldsOf(content);
    const item = entry.get(2) ?? (value.of.is === "integer" ? 0n : new Uint8Array());
    into[name] = { ...(into[name] as object | undefined), [textAt(entry, 1)]: scalar(value.of, item, depth) };
  } else if (field.inline) Object.assign(into, scalar(value, content, depth));
  else into[name] = scalar(value, content, depth);
}

function message(name: string, bytes: Uint8Array, depth: number): unknown {
  if (depth > DEPTH_MAX) throw new ProtobufError(`messages are nested deeper than ${DEPTH_MAX}`);
  const special = SPECIAL[name];
  if (special) return special(bytes);
  const fields = messageOf(name);
  if (!fields) throw new ProtobufError(`no message ${name} is known`);
  const object: Record<string, unknown> = {};
  eachField(bytes, (number, content) => {
    const field = fields.get(number);
    if (field) put(object, field, content, depth);
  });
  return object;
}

/** Groups whose messages are kept under another name than the first part of the group. */
const prefixOf = (apiVersion: string): string => {
  const slash = apiVersion.indexOf("/");
  if (slash < 0) return "core";
  return apiVersion.slice(0, slash).split(".")[0] ?? "";
};

function messageName(apiVersion: string, kind: string): string | undefined {
  // DeleteOptions is sent in the version of whatever is deleted.
  if (kind === "DeleteOptions") return "meta.DeleteOptions";
  const name = `${prefixOf(apiVersion)}.${kind}`;
  return apiVersion.endsWith("v1") && messageOf(name) ? name : undefined;
}

/** The object of a body, as JSON has it. Throws ProtobufError for kinds that have no such form, and for what is none. */
export function decodeProtobuf(bytes: Uint8Array): object {
  if (bytes.byteLength < MAGIC.length || MAGIC.some((byte, i) => bytes[i] !== byte)) {
    throw new ProtobufError("the body does not begin as Kubernetes protobuf does");
  }
  const envelope = fieldsOf(bytes.subarray(MAGIC.length));
  const typeMeta = envelope.get(1);
  const type = fieldsOf(typeMeta instanceof Uint8Array ? typeMeta : new Uint8Array());
  const [apiVersion, kind] = [textAt(type, 1), textAt(type, 2)];
  const name = messageName(apiVersion, kind);
  if (name === undefined)
    throw new ProtobufError(`${kind || "an unnamed kind"} of ${apiVersion || "no version"} has no protobuf form here; send JSON`);
  const raw = envelope.get(2);
  const object = message(name, raw instanceof Uint8Array ? raw : new Uint8Array(), 0);
  return { apiVersion, kind, ...(object as object) };
}
