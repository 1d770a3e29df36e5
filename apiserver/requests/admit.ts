// Running the admission plugins over one write. Here: attributes and order. Not here: plugins (../admission).
import type { AdmissionAttributes, Operation } from "../admission-seam.ts";
import { type ApiObject, deepFreeze } from "../object.ts";
import { type Call, namespaceOf, strategyContext, warn } from "./call.ts";
import { shapeWithDefaults } from "./shape.ts";

export interface Admission {
  readonly operation: Operation;
  readonly name: string;
  readonly dryRun: boolean;
  readonly options: object;
  /** Kind of the body when it is not the kind of the path (Scale). */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
  /** Brings a changed object into form; the kind's own shape by default. */
  readonly normalize?: (object: object) => ApiObject;
}

function attributes(
  call: Call,
  admission: Admission,
  object: ApiObject | undefined,
  oldObject: ApiObject | undefined,
): AdmissionAttributes {
  const { type, core } = call;
  return {
    operation: admission.operation,
    type,
    subresource: call.route.subresource,
    kind: admission.kind ?? { group: type.group, version: type.version, kind: type.kind },
    namespace: type.plural === "namespaces" && type.group === "" ? admission.name : namespaceOf(call),
    name: admission.name,
    user: call.user,
    object,
    oldObject,
    dryRun: admission.dryRun,
    options: admission.options,
    warn: (text) => warn(call, text),
    normalize: admission.normalize ?? ((changed) => shapeWithDefaults(core, type, changed, strategyContext(call, "admission")).object),
  };
}

/** Mutating plugins, one after the other. @returns the object as they left it */
export async function mutate(call: Call, admission: Admission, object: ApiObject, oldObject?: ApiObject): Promise<ApiObject> {
  let current = object;
  for (const plugin of call.core.admission) {
    if (!plugin.mutate) continue;
    const changed = await plugin.mutate(attributes(call, admission, current, oldObject));
    if (changed) current = deepFreeze(changed);
  }
  return current;
}

/** Validating plugins; the first refusal is thrown. */
export async function validate(call: Call, admission: Admission, object: ApiObject | undefined, oldObject?: ApiObject): Promise<void> {
  for (const plugin of call.core.admission) {
    if (plugin.validate) await plugin.validate(attributes(call, admission, object, oldObject));
  }
}

/** Deletes have no new object, but mutating plugins may refuse them. */
export async function admitDelete(call: Call, admission: Admission, oldObject: ApiObject | undefined): Promise<void> {
  for (const plugin of call.core.admission) {
    if (plugin.mutate) await plugin.mutate(attributes(call, admission, undefined, oldObject));
  }
  await validate(call, admission, undefined, oldObject);
}
