// From any JSON object to an object of a kind: unknown fields, defaults, pruning, metadata.
// Here: built-in kinds by their decoder, custom resources by their schema. Not here: validation.
import { badRequest } from "../errors.ts";
import { type ApiObject, deepFreeze } from "../object.ts";
import { apiVersionOfType, type ResourceType, type StrategyContext } from "../registry.ts";
import type { Core } from "./call.ts";
import { coerceMetadata } from "./metadata.ts";

export interface Shaped {
  readonly object: ApiObject;
  /** Paths of fields that the kind does not have, sorted. */
  readonly unknown: readonly string[];
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Brings a decoded body, or the result of a patch, into the form of the kind. Frozen. Throws BadRequest.
 * @param keepNulls after an apply, whose nulls are refused and not dropped
 */
export function shape(core: Pick<Core, "compiled">, type: ResourceType, value: object, keepNulls = false): Shaped {
  if (type.decode) {
    const { object, unknown } = type.decode(value);
    return { object: deepFreeze(object), unknown };
  }
  const unknown: string[] = [];
  const onUnknown = (path: string): void => {
    unknown.push(path);
  };
  let object = coerceMetadata(value as ApiObject, onUnknown);
  object = core.compiled(type)?.defaultAndPrune(object, { onUnknown, keepNulls }) ?? object;
  return { object: deepFreeze(object), unknown: unknown.length > 1 ? unknown.sort() : unknown };
}

/** Shape, then the defaults of the strategy. */
export function shapeWithDefaults(core: Pick<Core, "compiled">, type: ResourceType, value: object, context: StrategyContext): Shaped {
  const shaped = shape(core, type, value);
  const defaulted = type.strategy.defaults?.(shaped.object, context);
  return defaulted && defaulted !== shaped.object ? { object: deepFreeze(defaulted), unknown: shaped.unknown } : shaped;
}

/** The body must be an object of the kind of the path. Missing apiVersion and kind are filled in for built-in kinds. Throws BadRequest. */
export function asKind(type: ResourceType, value: unknown): object {
  if (!isRecord(value)) throw badRequest(`the object provided is unrecognized (must be of type ${type.kind}): it is not a JSON object`);
  const apiVersion = apiVersionOfType(type);
  const { apiVersion: givenVersion, kind: givenKind } = value;
  if (type.custom) {
    if (typeof givenKind !== "string" || givenKind === "") throw badRequest(`Object 'Kind' is missing in '${shorten(value)}'`);
    if (typeof givenVersion !== "string" || givenVersion === "") throw badRequest(`Object 'apiVersion' is missing in '${shorten(value)}'`);
  }
  const version = givenVersion === undefined || givenVersion === "" || givenVersion === null ? apiVersion : givenVersion;
  const kind = givenKind === undefined || givenKind === "" || givenKind === null ? type.kind : givenKind;
  if (version !== apiVersion || kind !== type.kind) {
    throw badRequest(
      `${String(kind)} in version ${JSON.stringify(version)} cannot be handled as a ${type.kind}: the path is of ${apiVersion}, kind ${type.kind}`,
    );
  }
  return version === givenVersion && kind === givenKind ? value : { ...value, apiVersion, kind };
}

const SHOWN_MAX = 200;
function shorten(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}...` : text;
}
