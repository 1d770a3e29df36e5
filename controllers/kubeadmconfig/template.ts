// Contents of files with placeholders. Here: the little of Go's text templates that files need, strict about the rest. Pure.
// Source: spec/controllers/kubeadmconfig.md section 7.

export class FileTemplateInvalid extends Error {
  readonly code = "FileTemplateInvalid";
}

/** A larger file is a mistake, and would not fit a Secret. */
const OUTPUT_MAX_BYTES = 1_048_576;
const ACTION = /(\s*)\{\{(-?)([\s\S]*?)(-?)\}\}(\s*)/g;
const VARIABLE = /^\.[A-Za-z_][\w]*(\.[A-Za-z_][\w]*)*$/;
const COMMENT = /^\/\*[\s\S]*\*\/$/;

/** Replaces `{{ .a.b }}`; `{{-` and `-}}` eat the white space beside them.
 *  @param data values by dotted name without the leading dot; an absent one is an error
 *  @throws FileTemplateInvalid for an unknown variable, any other action, or an output over 1 MiB */
export function renderTemplate(template: string, data: Readonly<Record<string, string>>): string {
  const output = template.replace(ACTION, (_all, before: string, trimLeft: string, action: string, trimRight: string, after: string) => {
    const value = placeholderValue(action.trim(), data);
    return `${trimLeft ? "" : before}${value}${trimRight ? "" : after}`;
  });
  if (new TextEncoder().encode(output).length > OUTPUT_MAX_BYTES) {
    throw new FileTemplateInvalid(`the rendered content is larger than ${OUTPUT_MAX_BYTES} bytes`);
  }
  return output;
}

function placeholderValue(action: string, data: Readonly<Record<string, string>>): string {
  if (COMMENT.test(action)) return "";
  if (!VARIABLE.test(action))
    throw new FileTemplateInvalid(`{{ ${action} }} is not understood: only variables such as {{ .controlPlane.version }} are`);
  const value = data[action.slice(1)];
  if (value === undefined) {
    const known = Object.keys(data).map((name) => `.${name}`);
    throw new FileTemplateInvalid(`{{ ${action} }} has no value; known ${known.length === 0 ? "is none" : `are ${known.join(", ")}`}`);
  }
  return value;
}
