// Services: addresses and node ports, which fields may change. Here: one IPv4 range, as a server without dual stack.
import type { StatusCause } from "../../../api/meta/status.ts";
import { fieldInvalid, fieldRequired } from "../../errors.ts";
import type { ApiObject } from "../../object.ts";
import type { Strategy, StrategyContext } from "../../registry.ts";
import { dns1035LabelErrors } from "../../requests/names.ts";
import { asFields, asList, asNumber, asText, type Fields, specOf } from "./fields.ts";

/** 10.96.0.0/12 without its first address, which is the API server's. */
const FIRST_ADDRESS = (10 << 24) + (96 << 16) + 2;
const LAST_ADDRESS = (10 << 24) + (111 << 16) + (255 << 8) + 254;
const NODE_PORTS = { first: 30_000, last: 32_767 } as const;

const addressText = (n: number): string => [24, 16, 8, 0].map((shift) => (n >>> shift) & 255).join(".");
const isHeadless = (spec: Fields): boolean => spec.clusterIP === "None";
const needsAddress = (spec: Fields): boolean => spec.type !== "ExternalName" && asText(spec.clusterIP) === "";
const needsNodePorts = (spec: Fields): boolean =>
  spec.type === "NodePort" || (spec.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false);

function others(object: ApiObject, { server }: StrategyContext): readonly ApiObject[] {
  const type = server.registry.byKind("", "v1", "Service");
  const { name, namespace } = object.metadata;
  return type ? server.objects.list(type).filter((s) => s.metadata.name !== name || s.metadata.namespace !== namespace) : [];
}

/** The lowest address that no other service has. */
function freeAddress(taken: readonly ApiObject[]): string {
  const used = new Set(taken.map((s) => specOf(s).clusterIP));
  for (let n = FIRST_ADDRESS; n <= LAST_ADDRESS; n++) if (!used.has(addressText(n))) return addressText(n);
  throw new Error("the range of service addresses is used up: delete services");
}

function withNodePorts(spec: Fields, taken: readonly ApiObject[], old: Fields): Fields {
  const used = new Set(taken.flatMap((s) => asList(specOf(s).ports).map((p) => asNumber(p.nodePort))));
  for (const port of asList(spec.ports)) used.add(asNumber(port.nodePort));
  const before = new Map(asList(old.ports).map((p) => [`${asText(p.protocol)}/${String(p.port)}`, asNumber(p.nodePort)]));
  const next = (): number => {
    for (let n: number = NODE_PORTS.first; n <= NODE_PORTS.last; n++) {
      if (used.has(n)) continue;
      used.add(n);
      return n;
    }
    throw new Error("the range of node ports is used up: delete services of type NodePort");
  };
  const ports = asList(spec.ports).map((port) => {
    if (asNumber(port.nodePort) > 0) return port;
    return { ...port, nodePort: before.get(`${asText(port.protocol)}/${String(port.port)}`) || next() };
  });
  return { ...spec, ports };
}

function families(spec: Fields): Fields {
  const headlessAlone = isHeadless(spec) && Object.keys(asFields(spec.selector)).length === 0;
  const policy = spec.ipFamilyPolicy ?? (headlessAlone ? "RequireDualStack" : "SingleStack");
  const wanted = headlessAlone && policy === "RequireDualStack" ? ["IPv4", "IPv6"] : ["IPv4"];
  return { ipFamilyPolicy: policy, ipFamilies: spec.ipFamilies ?? wanted };
}

/** Addresses, families and node ports as an allocator gives them; what the old service had stays. */
function allocate(object: ApiObject, old: Fields, context: StrategyContext): ApiObject {
  let spec = specOf(object);
  if (spec.type === "ExternalName") {
    const { clusterIP: _a, clusterIPs: _b, ipFamilies: _c, ipFamilyPolicy: _d, ...rest } = spec;
    return { ...object, spec: rest };
  }
  const inherited = needsAddress(spec) && asText(old.clusterIP) !== "" ? { clusterIP: old.clusterIP, clusterIPs: old.clusterIPs } : {};
  spec = { ...spec, ...inherited };
  const taken = needsAddress(spec) || needsNodePorts(spec) ? others(object, context) : [];
  if (needsAddress(spec)) spec = { ...spec, clusterIP: freeAddress(taken) };
  spec = {
    ...spec,
    clusterIPs: spec.clusterIPs ?? [spec.clusterIP],
    ...families({
      ...spec,
      ipFamilies: spec.ipFamilies ?? old.ipFamilies,
      ipFamilyPolicy: spec.ipFamilyPolicy ?? old.ipFamilyPolicy,
    }),
  };
  if (needsNodePorts(spec)) spec = withNodePorts(spec, taken, old);
  return { ...object, spec };
}

function validateService(object: ApiObject): readonly StatusCause[] {
  const spec = specOf(object);
  const ports = asList(spec.ports);
  const causes: StatusCause[] = [];
  if (ports.length === 0 && !isHeadless(spec) && spec.type !== "ExternalName") causes.push(fieldRequired("spec.ports"));
  if (spec.type === "ExternalName" && asText(spec.externalName) === "") causes.push(fieldRequired("spec.externalName"));
  ports.forEach((port, i) => {
    const at = `spec.ports[${i}]`;
    if (ports.length > 1 && asText(port.name) === "") causes.push(fieldRequired(`${at}.name`));
    const number = asNumber(port.port);
    if (number !== 0 && (number < 1 || number > 65_535))
      causes.push(fieldInvalid(`${at}.port`, number, "must be between 1 and 65535, inclusive"));
    if (ports.some((p, j) => j < i && asText(p.name) !== "" && p.name === port.name)) {
      causes.push({ reason: "FieldValueDuplicate", message: `Duplicate value: ${JSON.stringify(port.name)}`, field: `${at}.name` });
    }
  });
  if (
    spec.type !== "LoadBalancer" &&
    spec.type !== "NodePort" &&
    spec.externalTrafficPolicy !== undefined &&
    asList(spec.externalIPs).length === 0
  ) {
    causes.push(
      fieldInvalid("spec.externalTrafficPolicy", spec.externalTrafficPolicy, "may only be set for externally-accessible services"),
    );
  }
  return causes;
}

function addressKept(object: ApiObject, old: ApiObject): readonly StatusCause[] {
  const [spec, before] = [specOf(object), specOf(old)];
  if (spec.type === "ExternalName" || before.type === "ExternalName") return [];
  if (asText(before.clusterIP) === "" || spec.clusterIP === before.clusterIP) return [];
  return [fieldInvalid("spec.clusterIPs[0]", spec.clusterIPs, "may not change once set")];
}

/** Node ports of a service that needs none any more go away. */
function dropNodePorts(object: ApiObject, old: Fields): ApiObject {
  const spec = specOf(object);
  if (needsNodePorts(spec) || !needsNodePorts(old)) return object;
  const before = new Set(asList(old.ports).map((p) => p.nodePort));
  const ports = asList(spec.ports).map(({ nodePort, ...rest }) =>
    before.has(nodePort) || nodePort === undefined ? rest : { ...rest, nodePort },
  );
  const { externalTrafficPolicy: _, ...kept } = spec;
  return { ...object, spec: { ...kept, ports } };
}

export const serviceStrategy: Strategy = {
  prepareForCreate: (object, context) => allocate({ ...object, status: { loadBalancer: {} } }, {}, context),
  prepareForUpdate: (object, old, context) =>
    context.subresource === "" ? allocate(dropNodePorts(object, specOf(old)), specOf(old), context) : object,
  validate: validateService,
  validateUpdate: (object, old, { subresource }) => (subresource === "" ? [...addressKept(object, old), ...validateService(object)] : []),
  validateName: dns1035LabelErrors,
  returnDeletedObject: true,
  allowCreateOnUpdate: true,
};
