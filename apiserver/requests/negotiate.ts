// In which form the client wants its answer. Here: the Accept header, pretty printing. Not here: the encoding (respond.ts).
import { formNotAcceptable, notAcceptable } from "../errors.ts";

export type MediaType = "json" | "yaml";
export type Form = "object" | "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";

export interface Negotiated {
  readonly media: MediaType;
  readonly form: Form;
  /** metav1 version of the form: v1 or v1beta1. */
  readonly formVersion: string;
  readonly pretty: boolean;
}

export const ACCEPTED: readonly string[] = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const FORMS: ReadonlySet<string> = new Set(["Table", "PartialObjectMetadata", "PartialObjectMetadataList"]);

interface Clause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

function parseClause(text: string): Clause {
  const [type = "", ...rest] = text.split(";").map((part) => part.trim());
  const parameters = new Map<string, string>();
  for (const part of rest) {
    const equals = part.indexOf("=");
    if (equals > 0)
      parameters.set(
        part.slice(0, equals).trim().toLowerCase(),
        part
          .slice(equals + 1)
          .trim()
          .replace(/^"|"$/g, ""),
      );
  }
  const quality = Number(parameters.get("q") ?? "1");
  return { type: type.toLowerCase(), parameters, quality: Number.isNaN(quality) ? 1 : quality };
}

/** Clauses of an Accept header, best first. */
export function parseAccept(accept: string): readonly Clause[] {
  const clauses = accept
    .split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .map(parseClause);
  return clauses.sort((a, b) => b.quality - a.quality); // stable: the client's order within a quality
}

function mediaOf(type: string): MediaType | undefined {
  if (type === "application/json" || type === "*/*") return "json";
  if (type === "application/yaml") return "yaml";
  return undefined;
}

/** @param forms transformations that this request allows   Throws NotAcceptable. */
export function negotiate(accept: string, query: URLSearchParams, userAgent: string, formsAllowed: boolean): Negotiated {
  const asked = query.get("pretty");
  const byHand = /^(curl|Wget|Mozilla)/.test(userAgent);
  const pretty = asked === null ? byHand : asked !== "false" && asked !== "0";
  if (accept.trim() === "") return { media: "json", form: "object", formVersion: "v1", pretty };
  let known = false;
  for (const clause of parseAccept(accept)) {
    const media = mediaOf(clause.type);
    if (!media) continue;
    known = true;
    const as = clause.parameters.get("as");
    if (as === undefined) return { media, form: "object", formVersion: "v1", pretty };
    const version = clause.parameters.get("v") ?? "";
    const form = FORMS.has(as) && clause.parameters.get("g") === "meta.k8s.io" && (version === "v1" || version === "v1beta1");
    if (formsAllowed && form) return { media, form: as as Form, formVersion: version, pretty };
  }
  throw (known ? formNotAcceptable : notAcceptable)(ACCEPTED);
}
