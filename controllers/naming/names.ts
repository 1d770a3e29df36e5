// Names of the objects that controllers make. Here: the random part. Not here: label values and templates as texts (api/naming.ts),
// template checks on admission (webhooks). Source: spec/api/common.md section 7, spec/controllers/machinedeployment.md section 5.
import { NameTemplateInvalid, renderNameTemplate } from "../../api/naming.ts";
import { nameSuffix, type Random } from "../../runtime/base/random.ts";

export { fnv32a, labelValueOf } from "../../api/naming.ts";

const NAME_LENGTH_MAX = 63;
const SUFFIX_LENGTH = 5;

/** `<base>-<random>`, the base cut so that the whole fits a name. */
export function withRandomSuffix(base: string, random: Random): string {
  return `${`${base}-`.slice(0, NAME_LENGTH_MAX - SUFFIX_LENGTH)}${nameSuffix(random, SUFFIX_LENGTH)}`;
}

/** A name from a template such as `{{ .machineSet.name }}-{{ .random }}`; longer than 63 characters is cut to 58 and five fresh random ones.
 *  @param data what `.a.b` stands for, dots included as `a.b`; `random` is added
 *  @throws NameTemplateInvalid for an unknown variable, anything but variables in braces, or a template without `{{ .random }}` */
export function nameFromTemplate(template: string, data: Readonly<Record<string, string>>, random: Random): string {
  if (!/\{\{-?\s*\.random\s*-?\}\}/.test(template)) {
    throw new NameTemplateInvalid(`name template "${template}" has no {{ .random }}: two objects would get the same name`);
  }
  const name = renderNameTemplate(template, { ...data, random: nameSuffix(random, SUFFIX_LENGTH) });
  return name.length <= NAME_LENGTH_MAX ? name : `${name.slice(0, NAME_LENGTH_MAX - SUFFIX_LENGTH)}${nameSuffix(random, SUFFIX_LENGTH)}`;
}
