// Names that follow from names: label values of long ones, name templates. Here: pure texts. Not here: the random part (controllers/naming).
// Source: spec/api/common.md section 7.

const NAME_LENGTH_MAX = 63;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const BASE64_URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** 32-bit FNV-1a over the text's UTF-8 bytes. */
export function fnv32a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

function base64Url(bytes: readonly number[]): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const group = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    const digits = Math.min(bytes.length - i, 3) + 1;
    for (let d = 0; d < digits; d++) text += BASE64_URL[(group >> (18 - 6 * d)) & 63];
  }
  return text;
}

/** A label value that stands for a name: the name itself where the rules for values allow it, else a hash. */
export function labelValueOf(name: string): string {
  if (name.length <= NAME_LENGTH_MAX && LABEL_VALUE.test(name)) return name;
  const hash = fnv32a(name);
  return `hash_${base64Url([hash >>> 24, (hash >>> 16) & 0xff, (hash >>> 8) & 0xff, hash & 0xff])}_z`;
}

/** A name template that cannot be used; the message says what to write. */
export class NameTemplateInvalid extends Error {
  readonly code = "NameTemplateInvalid";
}

/** Puts values into a template such as `{{ .machineSet.name }}-{{ .random }}`. @param values by path, dots included: `machineSet.name`
 *  @throws NameTemplateInvalid for an unknown variable or anything but variables in braces */
export function renderNameTemplate(template: string, values: Readonly<Record<string, string>>): string {
  const name = template.replace(/\{\{-?\s*([^{}]*?)\s*-?\}\}/g, (_whole, expression: string) => {
    const value = expression.startsWith(".") ? values[expression.slice(1)] : undefined;
    if (value !== undefined) return value;
    const known = Object.keys(values).sort();
    throw new NameTemplateInvalid(
      `name template "${template}" uses {{ ${expression} }}; known are ${known.map((k) => `.${k}`).join(", ")}`,
    );
  });
  if (name.includes("{{") || name.includes("}}")) throw new NameTemplateInvalid(`name template "${template}" has braces that do not close`);
  return name;
}
