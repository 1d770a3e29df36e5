// OpenAPI v2 as protobuf, which is the only form that kubectl takes of it. Here: which field has which number, and the wire form.
// Not here: the document (documents.ts), who gets which form (index.ts). Source: gnostic's OpenAPIv2.proto, of which this has what documents.ts makes.

type Tree = Readonly<Record<string, unknown>>;
type Scalar = "string" | "bool" | "int" | "double" | "any";

interface Field {
  readonly number: number;
  readonly type: string;
  readonly repeated: boolean;
}
interface Message {
  readonly fields: ReadonlyMap<string, Field>;
  /** Keys that are no fields: entries of a map, or what starts with x-. */
  readonly others?: Field;
}

/** name=number, then :type unless it is a string, [] where repeated; `*` = every key is an entry of a map; `x-*` = vendor extensions. */
const MESSAGES = readMessages({
  Document: "swagger=1 info=2:Info paths=8:Paths definitions=9:Schemas",
  Info: "title=1 version=2",
  Paths: "*=2:PathItem",
  PathItem: "get=2:Operation put=3:Operation post=4:Operation delete=5:Operation patch=8:Operation parameters=9:Parameter[]",
  Operation:
    "tags=1[] description=3 operationId=5 produces=6[] consumes=7[] parameters=8:Parameter[] responses=9:Responses schemes=10[] x-*=13:any",
  BodyParameter: "description=1 name=2 in=3 required=4:bool schema=5:Schema",
  QueryParameter: "required=1:bool in=2 description=3 name=4 type=6 uniqueItems=20:bool",
  PathParameter: "required=1:bool in=2 description=3 name=4 type=5 uniqueItems=19:bool",
  Responses: "*=1:ResponseValue",
  Response: "description=1 schema=2:SchemaItem",
  Schemas: "*=1:Schema",
  Schema:
    "$ref=1 format=2 title=3 description=4 default=5:any multipleOf=6:double maximum=7:double exclusiveMaximum=8:bool minimum=9:double " +
    "exclusiveMinimum=10:bool maxLength=11:int minLength=12:int pattern=13 maxItems=14:int minItems=15:int uniqueItems=16:bool " +
    "maxProperties=17:int minProperties=18:int required=19[] enum=20:any[] additionalProperties=21:SchemaOrBoolean type=22:TypeItem " +
    "items=23:Items allOf=24:Schema[] properties=25:Schemas example=30:any x-*=31:any",
});

/** Messages that only choose between others: numbers to go through, and the message at the end. */
const CHOICES: Readonly<Record<string, (value: unknown) => readonly [path: readonly number[], type: string]>> = {
  Parameter: (value) => {
    const where = (value as Tree).in;
    if (where === "body") return [[1, 1], "BodyParameter"];
    return where === "path" ? [[1, 2, 4], "PathParameter"] : [[1, 2, 3], "QueryParameter"];
  },
  ResponseValue: () => [[1], "Response"],
  SchemaItem: () => [[1], "Schema"],
  Items: () => [[1], "Schema"],
  SchemaOrBoolean: (value) => (typeof value === "boolean" ? [[2], "bool"] : [[1], "Schema"]),
  TypeItem: () => [[1], "string"],
};

function readMessages(texts: Readonly<Record<string, string>>): ReadonlyMap<string, Message> {
  return new Map(
    Object.entries(texts).map(([name, text]) => {
      const fields = new Map<string, Field>();
      for (const part of text.split(" ")) {
        const [, key = "", number = "", type = "string", many = ""] = /^(.+)=(\d+)(?::(\w+))?(\[\])?$/.exec(part) ?? [];
        fields.set(key, { number: Number(number), type, repeated: many !== "" });
      }
      const others = fields.get("*") ?? fields.get("x-*");
      return [name, { fields, ...(others ? { others } : {}) }];
    }),
  );
}

const utf8 = new TextEncoder();
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
  return bytes;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

const tag = (number: number, wire: number): number[] => varint(number * 8 + wire);
const bytesField = (number: number, bytes: Uint8Array): Uint8Array =>
  joined([Uint8Array.from([...tag(number, BYTES), ...varint(bytes.length)]), bytes]);

function double(number: number, value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return joined([Uint8Array.from(tag(number, FIXED64)), bytes]);
}

const SCALARS: Readonly<Record<Scalar, (number: number, value: unknown) => Uint8Array>> = {
  string: (number, value) => bytesField(number, utf8.encode(String(value))),
  bool: (number, value) => Uint8Array.from([...tag(number, VARINT), value === true ? 1 : 0]),
  int: (number, value) => Uint8Array.from([...tag(number, VARINT), ...varint(Number(value))]),
  double: (number, value) => double(number, Number(value)),
  // Any: field 2 is YAML, and JSON is YAML.
  any: (number, value) => bytesField(number, bytesField(2, utf8.encode(JSON.stringify(value)))),
};

function field(number: number, type: string, value: unknown): Uint8Array {
  if (type in SCALARS) return SCALARS[type as Scalar](number, value);
  const choice = CHOICES[type]?.(value);
  if (!choice) return bytesField(number, message(type, value as Tree));
  const [path, chosen] = choice;
  const [last = 1, ...outer] = [...path].reverse();
  return bytesField(
    number,
    outer.reduce((bytes, n) => bytesField(n, bytes), field(last, chosen, value)),
  );
}

function message(type: string, value: Tree): Uint8Array {
  const { fields, others } = MESSAGES.get(type) ?? { fields: new Map<string, Field>() };
  const parts: Uint8Array[] = [];
  for (const [key, content] of Object.entries(value)) {
    if (content === undefined) continue;
    const own = fields.has("*") ? undefined : fields.get(key);
    if (own) for (const one of own.repeated ? (content as unknown[]) : [content]) parts.push(field(own.number, own.type, one));
    else if (others && (fields.has("*") || key.startsWith("x-"))) {
      parts.push(bytesField(others.number, joined([bytesField(1, utf8.encode(key)), field(2, others.type, content)])));
    }
  }
  return joined(parts);
}

/** @param document OpenAPI v2, as documents.ts makes it */
export const openApiV2Protobuf = (document: object): Uint8Array => message("Document", document as Tree);
