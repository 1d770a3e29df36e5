// Reading JSON bodies strictly. Here: doubled keys with their paths, depth. Not here: fields a schema does not know.

export interface Parsed {
  readonly value: unknown;
  /** Paths of doubled keys, such as `data.k`. */
  readonly duplicates: readonly string[];
}

// encoding/json stops at 10,000; recursion here must not run out of stack long before that.
const DEPTH_MAX = 2_000;

export class BodyError extends Error {
  readonly code = "BodyError";
}

interface Scan {
  readonly keys: number;
  readonly depth: number;
}

/** Counts keys (colons outside of texts) and the deepest nesting without building anything. */
function scan(text: string): Scan {
  let keys = 0;
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 34) {
      for (i += 1; i < text.length; i++) {
        const inside = text.charCodeAt(i);
        if (inside === 92) i += 1;
        else if (inside === 34) break;
      }
    } else if (c === 58) keys += 1;
    else if (c === 123 || c === 91) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (c === 125 || c === 93) depth -= 1;
  }
  return { keys, depth: deepest };
}

function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) for (const item of value) keys += countKeys(item);
  else
    for (const key in value) {
      keys += 1;
      keys += countKeys((value as Record<string, unknown>)[key]);
    }
  return keys;
}

/** The key as such, or letters of ASCII in escapes, in which it may hide. */
const PROTOTYPE_KEY = /"__proto__"|\\u00[567]/i;

/**
 * @param mergeDuplicates what a doubled key with an object means: merged into the first (typed kinds), or replaced (custom resources)
 * Throws BodyError.
 */
export function parseJson(text: string, mergeDuplicates: boolean): Parsed {
  const { keys, depth } = scan(text);
  if (depth > DEPTH_MAX) throw new BodyError(`exceeded max depth of ${DEPTH_MAX}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new BodyError(error instanceof Error ? error.message : String(error));
  }
  if (PROTOTYPE_KEY.test(text)) value = withoutPrototypeKeys(value);
  if (countKeys(value) === keys) return { value, duplicates: [] };
  return slowParse(text, mergeDuplicates);
}

/** A key `__proto__` is data for JSON.parse, but would be lost or worse in copies. */
function withoutPrototypeKeys(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutPrototypeKeys);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== "__proto__")
      .map(([key, field]) => [key, withoutPrototypeKeys(field)]),
  );
}

/** The text is known to be good JSON: no error handling, only structure. */
function slowParse(text: string, mergeDuplicates: boolean): Parsed {
  const duplicates: string[] = [];
  let at = 0;
  const skip = (): void => {
    while (" \t\n\r,:".includes(text[at] as string)) at += 1;
  };
  const scalarEnd = (): number => {
    let end = at;
    if (text[end] === '"') {
      for (end += 1; text[end] !== '"'; end++) if (text[end] === "\\") end += 1;
      return end + 1;
    }
    while (end < text.length && !" \t\n\r,:]}".includes(text[end] as string)) end += 1;
    return end;
  };
  const scalar = (): unknown => {
    const end = scalarEnd();
    const value: unknown = JSON.parse(text.slice(at, end));
    at = end;
    return value;
  };
  const read = (path: string, into?: unknown): unknown => {
    skip();
    if (text[at] === "{") return readObject(path, into);
    if (text[at] === "[") return readArray(path);
    return scalar();
  };
  const readArray = (path: string): unknown[] => {
    const items: unknown[] = [];
    at += 1;
    for (skip(); text[at] !== "]"; skip()) items.push(read(`${path}[${items.length}]`));
    at += 1;
    return items;
  };
  const readObject = (path: string, into: unknown): object => {
    const found: Record<string, unknown> =
      mergeDuplicates && typeof into === "object" && into !== null && !Array.isArray(into) ? (into as Record<string, unknown>) : {};
    const seen = new Set<string>();
    at += 1;
    for (skip(); text[at] !== "}"; skip()) {
      const key = scalar() as string;
      const below = path === "" ? key : `${path}.${key}`;
      if (seen.has(key)) duplicates.push(below);
      seen.add(key);
      const value = read(below, Object.hasOwn(found, key) ? found[key] : undefined);
      if (key !== "__proto__") found[key] = value;
    }
    at += 1;
    return found;
  };
  const value = read("");
  return { value, duplicates: [...new Set(duplicates)] };
}
