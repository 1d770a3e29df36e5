// Roles and bindings: what they may refer to. Not here: what they allow (auth/).
import type { StatusCause } from "../../../api/meta/status.ts";
import { fieldInvalid, fieldNotSupported, fieldRequired } from "../../errors.ts";
import type { ApiObject } from "../../object.ts";
import type { Strategy } from "../../registry.ts";
import { pathSegmentErrors } from "../../requests/names.ts";
import { asFields, asList, asText, unchanged } from "./fields.ts";

const GROUP = "rbac.authorization.k8s.io";

function validateRules(object: ApiObject, namespaced: boolean): readonly StatusCause[] {
  return asList(object.rules).flatMap((rule, i) => {
    const at = `rules[${i}]`;
    const urls = asList(rule.nonResourceURLs).length;
    if (urls > 0) {
      if (namespaced)
        return [fieldInvalid(`${at}.nonResourceURLs`, rule.nonResourceURLs, "namespaced rules cannot apply to non-resource URLs")];
      const mixed = asList(rule.apiGroups).length + asList(rule.resources).length + asList(rule.resourceNames).length > 0;
      return mixed
        ? [
            fieldInvalid(
              `${at}.nonResourceURLs`,
              rule.nonResourceURLs,
              "rules cannot apply to both regular resources and non-resource URLs",
            ),
          ]
        : [];
    }
    return [
      ...(asList(rule.apiGroups).length === 0
        ? [fieldRequired(`${at}.apiGroups`, "resource rules must supply at least one api group")]
        : []),
      ...(asList(rule.resources).length === 0
        ? [fieldRequired(`${at}.resources`, "resource rules must supply at least one resource")]
        : []),
    ];
  });
}

function validateSubjects(object: ApiObject): readonly StatusCause[] {
  return asList(object.subjects).flatMap((subject, i) => {
    const at = `subjects[${i}]`;
    const group = asText(subject.apiGroup);
    if (subject.kind === "ServiceAccount") {
      return [
        ...(group === "" ? [] : [fieldNotSupported(`${at}.apiGroup`, group, [""])]),
        ...(asText(subject.namespace) === "" ? [fieldRequired(`${at}.namespace`)] : []),
      ];
    }
    return group === GROUP ? [] : [fieldNotSupported(`${at}.apiGroup`, group, [GROUP])];
  });
}

function validateBinding(object: ApiObject, namespaced: boolean): readonly StatusCause[] {
  const ref = asFields(object.roleRef);
  const kinds = namespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
  return [
    ...(ref.apiGroup === GROUP ? [] : [fieldNotSupported("roleRef.apiGroup", ref.apiGroup, [GROUP])]),
    ...(kinds.includes(asText(ref.kind)) ? [] : [fieldNotSupported("roleRef.kind", ref.kind ?? "", kinds)]),
    ...pathSegmentErrors(asText(ref.name)).map((text) => fieldInvalid("roleRef.name", ref.name, text)),
    ...validateSubjects(object),
  ];
}

const strategy = (validate: (object: ApiObject) => readonly StatusCause[], frozen: readonly string[] = []): Strategy => ({
  validateName: pathSegmentErrors,
  allowCreateOnUpdate: true,
  validate,
  validateUpdate: (object, old) => [...unchanged(object, old, frozen, "cannot change roleRef"), ...validate(object)],
});

export const roleStrategy = strategy((o) => validateRules(o, true));
export const clusterRoleStrategy = strategy((o) => validateRules(o, false));
export const roleBindingStrategy = strategy((o) => validateBinding(o, true), ["roleRef"]);
export const clusterRoleBindingStrategy = strategy((o) => validateBinding(o, false), ["roleRef"]);
