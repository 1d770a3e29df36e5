// Names of the objects that controllers make. Here: Machine and MachineSet names, label values from long names, readable hashes.
// Not here: template checks on admission (webhooks). Source: spec/api/common.md section 7, spec/controllers/machinedeployment.md section 5.
import { nameSuffix, type Random } from "../../runtime/base/random.ts";

const NAME_LENGTH_MAX = 63;
const SUFFIX_LENGTH = 5;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

/** 32-bit FNV-1a over the text's UTF-8 bytes. */
export function fnv32a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

/** A label value that stands for a name: the name itself where the rules for values allow it, else a hash. */
export function labelValueOf(name: string): string {
  if (name.length <= NAME_LENGTH_MAX && LABEL_VALUE.test(name)) return name;
  const hash = fnv32a(name);
  return `hash_${base64Url([hash >>> 24, (hash >>> 16) & 0xff, (hash >>> 8) & 0xff, hash & 0xff])}_z`;
}

const BASE64_URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

function base64Url(bytes: readonly number[]): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const group = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    const digits = Math.min(bytes.length - i, 3) + 1;
    for (let d = 0; d < digits; d++) text += BASE64_URL[(group >> (18 - 6 * d)) & 63];
  }
  return text;
}

/** `<base>-<random>`, the base cut so that the whole fits a name. */
export function withRandomSuffix(base: string, random: Random): string {
  return `${`${base}-`.slice(0, NAME_LENGTH_MAX - SUFFIX_LENGTH)}${nameSuffix(random, SUFFIX_LENGTH)}`;
}

export class NameTemplateInvalid extends Error {
  readonly code = "NameTemplateInvalid";
}

/** A name from a template such as `{{ .machineSet.name }}-{{ .random }}`; longer than 63 characters is cut to 58 and five fresh random ones.
 *  @param data what `.a.b` stands for, dots included as `a.b`; `random` is added
 *  @throws NameTemplateInvalid for an unknown variable, anything but variables in braces, or a template without `{{ .random }}` */
export function nameFromTemplate(template: string, data: Readonly<Record<string, string>>, random: Random): string {
  if (!/\{\{-?\s*\.random\s*-?\}\}/.test(template)) {
    throw new NameTemplateInvalid(`name template "${template}" has no {{ .random }}: two objects would get the same name`);
  }
  const values: Readonly<Record<string, string>> = { ...data, random: nameSuffix(random, SUFFIX_LENGTH) };
  const name = template.replace(/\{\{-?\s*([^{}]*?)\s*-?\}\}/g, (_whole, expression: string) => {
    const value = expression.startsWith(".") ? values[expression.slice(1)] : undefined;
    if (value === undefined) {
      const known = Object.keys(values)
        .sort()
        .map((k) => `.${k}`)
        .join(", ");
      throw new NameTemplateInvalid(`name template "${template}" uses {{ ${expression} }}; known are ${known}`);
    }
    return value;
  });
  return name.length <= NAME_LENGTH_MAX ? name : `${name.slice(0, NAME_LENGTH_MAX - SUFFIX_LENGTH)}${nameSuffix(random, SUFFIX_LENGTH)}`;
}
