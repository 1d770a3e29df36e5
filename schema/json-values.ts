// Reading and writing JSON objects whose keys come from anybody. Here: own fields only, equality. Not here: schemas.

export type Fields = Readonly<Record<string, unknown>>;

export const isMap = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

export function isEmptyMap(value: Fields): boolean {
  for (const key in value) if (value[key] !== undefined) return false;
  return true;
}

/** The field of that name, never what objects inherit: JSON holds no functions, and `__proto__` counts only when it was sent. */
export function own(object: Fields, key: string): unknown {
  const value = object[key];
  if (typeof value === "function" || (key === "__proto__" && !Object.hasOwn(object, key))) return undefined;
  return value;
}

/** Sets a field of a fresh object; `__proto__` becomes a field like any other. */
export function put(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/** Deep equality of JSON values; the order of keys does not matter, undefined fields count as absent. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameJson(item, b[i]));
  if (Array.isArray(b)) return false;
  const left = a as Fields;
  const right = b as Fields;
  for (const key in left) if (left[key] !== undefined && !sameJson(left[key], own(right, key))) return false;
  for (const key in right) if (right[key] !== undefined && own(left, key) === undefined) return false;
  return true;
}
