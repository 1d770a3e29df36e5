// Values of templates: which count as true, and how they are printed. Not here: functions (library.ts). Source: text/template, fmt.

/** Empty is false: nothing, 0, "", an empty list or map. */
export function isTrue(value: unknown): boolean {
  if (value === undefined || value === null) return false;
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object") return Object.keys(value).length > 0;
  return Boolean(value);
}

/** As Go prints it with %v. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return "<no value>";
  if (Array.isArray(value)) return `[${value.map(innerText).join(" ")}]`;
  if (typeof value === "object") {
    const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `map[${fields.map(([key, item]) => `${key}:${innerText(item)}`).join(" ")}]`;
  }
  return String(value);
}

const innerText = (value: unknown): string => (value === undefined || value === null ? "<nil>" : textOf(value));
