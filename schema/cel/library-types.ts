// Kubernetes' own CEL types: URLs, addresses, quantities, versions, named formats. Here: their functions.
// Source: Kubernetes documentation, "Common Expression Language in Kubernetes", libraries URL, IP, CIDR, quantity, semver, format.
import { type Environment, Optional } from "@marcbachmann/cel-js";
import semver from "semver";
import { formatCheck, isUri } from "../formats.ts";
import { type Cidr, cidrText, containsCidr, containsIp, type Ip, ipText, isMappedIpv4, masked, parseCidr, parseIp } from "../ip.ts";
import * as names from "../names.ts";
import type { Register } from "./register.ts";
import { asFloat, asInteger, compareQuantities, ofInteger, parseQuantity, Quantity } from "./quantity.ts";

export function registerTypes(environment: Environment, register: Register): void {
  registerQuantities(environment, register);
  registerAddresses(environment, register);
  registerUrls(environment, register);
  registerVersions(environment, register);
  registerFormats(environment, register);
  registerTypeNames(environment);
  register(`${namespace(environment, "strings")}.quote(string): string`, (_: unknown, text: string) => JSON.stringify(text));
}

/** `net.IP` and the like as values, for `type(x) == net.IP`. */
function registerTypeNames(environment: Environment): void {
  const typeOf = (expression: string): unknown => environment.evaluate(`type(${expression})`);
  const net = { IP: typeOf("ip('::')"), CIDR: typeOf("cidr('::/0')") };
  const kubernetes = {
    URL: typeOf("url('/')"),
    Quantity: typeOf("quantity('0')"),
    Semver: typeOf("semver('0.0.0')"),
    NamedFormat: typeOf("format.uri()"),
  };
  environment.registerConstant("net", "map<string, type>", net as never);
  environment.registerConstant("kubernetes", "map<string, type>", kubernetes as never);
}

/** A namespace such as `ip` in `ip.isCanonical(...)`: a constant whose type carries functions. */
function namespace(environment: Environment, variable: string): string {
  const type = `${variable[0]?.toUpperCase()}${variable.slice(1)}Namespace`;
  class Namespace {}
  environment.registerType(type, Namespace);
  environment.registerConstant(variable, type, new Namespace() as never);
  return type;
}

function parsed<T>(parse: (text: string) => T | undefined, what: string): (text: string) => T {
  return (text) => {
    const value = parse(text);
    if (value === undefined) throw new Error(`${what} parse error: ${JSON.stringify(text)}`);
    return value;
  };
}

function registerQuantities(environment: Environment, register: Register): void {
  const type = "kubernetes.Quantity";
  environment.registerType(type, Quantity);
  environment.registerOperator(`${type} == ${type}`, (a: Quantity, b: Quantity) => a.nanos === b.nanos);
  register(`quantity(string): ${type}`, parsed(parseQuantity, "quantity"));
  register("isQuantity(string): bool", (text: string) => parseQuantity(text) !== undefined);
  register(`${type}.isInteger(): bool`, (q: Quantity) => asInteger(q) !== undefined);
  register(`${type}.asInteger(): int`, (q: Quantity) => {
    const value = asInteger(q);
    if (value === undefined) throw new Error("cannot convert value to integer");
    return value;
  });
  register(`${type}.asApproximateFloat(): double`, asFloat);
  register(`${type}.sign(): int`, (q: Quantity) => (q.nanos < 0n ? -1n : q.nanos > 0n ? 1n : 0n));
  register(`${type}.add(${type}): ${type}`, (a: Quantity, b: Quantity) => new Quantity(a.nanos + b.nanos));
  register(`${type}.add(int): ${type}`, (a: Quantity, b: bigint) => new Quantity(a.nanos + ofInteger(b).nanos));
  register(`${type}.sub(${type}): ${type}`, (a: Quantity, b: Quantity) => new Quantity(a.nanos - b.nanos));
  register(`${type}.sub(int): ${type}`, (a: Quantity, b: bigint) => new Quantity(a.nanos - ofInteger(b).nanos));
  register(`${type}.compareTo(${type}): int`, compareQuantities);
  register(`${type}.isGreaterThan(${type}): bool`, (a: Quantity, b: Quantity) => a.nanos > b.nanos);
  register(`${type}.isLessThan(${type}): bool`, (a: Quantity, b: Quantity) => a.nanos < b.nanos);
}

class IpValue {
  readonly ip: Ip;
  constructor(ip: Ip) {
    this.ip = ip;
  }
}
class CidrValue {
  readonly cidr: Cidr;
  constructor(cidr: Cidr) {
    this.cidr = cidr;
  }
}

// IPv4 addresses inside IPv6 are refused, as Kubernetes does.
function strictIp(text: string): IpValue | undefined {
  const ip = parseIp(text);
  return ip && !isMappedIpv4(ip) ? new IpValue(ip) : undefined;
}
function strictCidr(text: string): CidrValue | undefined {
  const cidr = parseCidr(text);
  return cidr && !isMappedIpv4(cidr.ip) ? new CidrValue(cidr) : undefined;
}

const first = (ip: Ip): number => ip.bytes[0] as number;
const second = (ip: Ip): number => ip.bytes[1] as number;
const allZero = (bytes: readonly number[]): boolean => bytes.every((byte) => byte === 0);
const isUnspecified = (ip: Ip): boolean => allZero(ip.bytes);
const isLoopback = (ip: Ip): boolean => (ip.family === 4 ? first(ip) === 127 : allZero(ip.bytes.slice(0, 15)) && ip.bytes[15] === 1);
const isMulticast = (ip: Ip): boolean => (ip.family === 4 ? first(ip) >> 4 === 14 : first(ip) === 255);
const isLinkLocalMulticast = (ip: Ip): boolean =>
  ip.family === 4 ? first(ip) === 224 && second(ip) === 0 && ip.bytes[2] === 0 : first(ip) === 255 && (second(ip) & 15) === 2;
const isLinkLocalUnicast = (ip: Ip): boolean =>
  ip.family === 4 ? first(ip) === 169 && second(ip) === 254 : first(ip) === 254 && (second(ip) & 0xc0) === 0x80;
const isBroadcast = (ip: Ip): boolean => ip.family === 4 && ip.bytes.every((byte) => byte === 255);
const isGlobalUnicast = (ip: Ip): boolean =>
  !isUnspecified(ip) && !isLoopback(ip) && !isMulticast(ip) && !isLinkLocalUnicast(ip) && !isBroadcast(ip);

function registerAddresses(environment: Environment, register: Register): void {
  const [ip, cidr] = ["net.IP", "net.CIDR"];
  environment.registerType(ip, IpValue);
  environment.registerType(cidr, CidrValue);
  environment.registerOperator(`${ip} == ${ip}`, (a: IpValue, b: IpValue) => ipText(a.ip) === ipText(b.ip));
  environment.registerOperator(`${cidr} == ${cidr}`, (a: CidrValue, b: CidrValue) => cidrText(a.cidr) === cidrText(b.cidr));
  const toIp = parsed(strictIp, "IP Address");
  const toCidr = parsed(strictCidr, "network address");
  register(`ip(string): ${ip}`, toIp);
  register("isIP(string): bool", (text: string) => strictIp(text) !== undefined);
  const ips = namespace(environment, "ip");
  register(`${ips}.isCanonical(string): bool`, (_: unknown, text: string) => ipText(toIp(text).ip) === text);
  register(`string(${ip}): string`, (a: IpValue) => ipText(a.ip));
  register(`${ip}.family(): int`, (a: IpValue) => BigInt(a.ip.family));
  const tests = { isUnspecified, isLoopback, isLinkLocalMulticast, isLinkLocalUnicast, isGlobalUnicast };
  for (const [name, test] of Object.entries(tests)) register(`${ip}.${name}(): bool`, (a: IpValue) => test(a.ip));

  register(`cidr(string): ${cidr}`, toCidr);
  register("isCIDR(string): bool", (text: string) => strictCidr(text) !== undefined);
  register(`string(${cidr}): string`, (c: CidrValue) => cidrText(c.cidr));
  register(`${cidr}.ip(): ${ip}`, (c: CidrValue) => new IpValue(c.cidr.ip));
  register(`${cidr}.masked(): ${cidr}`, (c: CidrValue) => new CidrValue(masked(c.cidr)));
  register(`${cidr}.prefixLength(): int`, (c: CidrValue) => BigInt(c.cidr.bits));
  register(`${cidr}.containsIP(${ip}): bool`, (c: CidrValue, a: IpValue) => containsIp(c.cidr, a.ip));
  register(`${cidr}.containsIP(string): bool`, (c: CidrValue, text: string) => containsIp(c.cidr, toIp(text).ip));
  register(`${cidr}.containsCIDR(${cidr}): bool`, (c: CidrValue, inner: CidrValue) => containsCidr(c.cidr, inner.cidr));
  register(`${cidr}.containsCIDR(string): bool`, (c: CidrValue, text: string) => containsCidr(c.cidr, toCidr(text).cidr));
}

class UrlValue {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  constructor(scheme: string, host: string, path: string, query: string) {
    this.scheme = scheme;
    this.host = host;
    this.path = path;
    this.query = query;
  }
}

function parseUrl(text: string): UrlValue | undefined {
  if (!isUri(text)) return undefined;
  const found = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/(?:[^/?#@]*@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?/.exec(text);
  if (!found) return undefined;
  return new UrlValue((found[1] ?? "").toLowerCase(), found[2] ?? "", found[3] ?? "", found[4] ?? "");
}

const portOf = (host: string): string => /:(\d*)$/.exec(host.replace(/^\[.*\]/, ""))?.[1] ?? "";
const hostnameOf = (host: string): string => /^\[(.*)\]/.exec(host)?.[1] ?? host.replace(/:\d*$/, "");

function registerUrls(environment: Environment, register: Register): void {
  const type = "kubernetes.URL";
  environment.registerType(type, UrlValue);
  environment.registerOperator(`${type} == ${type}`, (a: UrlValue, b: UrlValue) => JSON.stringify(a) === JSON.stringify(b));
  register(`url(string): ${type}`, parsed(parseUrl, "URL"));
  register("isURL(string): bool", (text: string) => parseUrl(text) !== undefined);
  register(`${type}.getScheme(): string`, (u: UrlValue) => u.scheme);
  register(`${type}.getHost(): string`, (u: UrlValue) => u.host);
  register(`${type}.getHostname(): string`, (u: UrlValue) => hostnameOf(u.host));
  register(`${type}.getPort(): string`, (u: UrlValue) => portOf(u.host));
  register(`${type}.getEscapedPath(): string`, (u: UrlValue) => u.path.replace(/[^!-~]|["<>^`{|}]/gu, encodeURIComponent));
  register(`${type}.getQuery(): map<string, list<string>>`, (u: UrlValue) => {
    const all = new Map<string, string[]>();
    for (const [key, value] of new URLSearchParams(u.query)) all.set(key, [...(all.get(key) ?? []), value]);
    return all;
  });
}

class SemverValue {
  readonly version: semver.SemVer;
  constructor(version: semver.SemVer) {
    this.version = version;
  }
}

function parseSemver(text: string, normalize = false): SemverValue | undefined {
  let wanted = text;
  if (normalize) {
    const [core = "", ...tail] = text.replace(/^v/, "").split(/(?=[-+])/);
    const parts = core.split(".").map((part) => part.replace(/^0+(?=\d)/, ""));
    while (parts.length < 3) parts.push("0");
    wanted = parts.join(".") + tail.join("");
  }
  if (!/^\d/.test(wanted)) return undefined; // the package takes a leading v
  const version = semver.parse(wanted, { loose: false });
  return version ? new SemverValue(version) : undefined;
}

function registerVersions(environment: Environment, register: Register): void {
  const type = "kubernetes.Semver";
  environment.registerType(type, SemverValue);
  const order = (a: SemverValue, b: SemverValue): number => semver.compare(a.version, b.version);
  environment.registerOperator(`${type} == ${type}`, (a: SemverValue, b: SemverValue) => order(a, b) === 0);
  register(
    `semver(string): ${type}`,
    parsed((text) => parseSemver(text), "semver"),
  );
  register(`semver(string, bool): ${type}`, (text: string, normalize: boolean) => parsed((t) => parseSemver(t, normalize), "semver")(text));
  register("isSemver(string): bool", (text: string) => parseSemver(text) !== undefined);
  register("isSemver(string, bool): bool", (text: string, normalize: boolean) => parseSemver(text, normalize) !== undefined);
  register(`${type}.major(): int`, (v: SemverValue) => BigInt(v.version.major));
  register(`${type}.minor(): int`, (v: SemverValue) => BigInt(v.version.minor));
  register(`${type}.patch(): int`, (v: SemverValue) => BigInt(v.version.patch));
  register(`${type}.compareTo(${type}): int`, (a: SemverValue, b: SemverValue) => BigInt(order(a, b)));
  register(`${type}.isLessThan(${type}): bool`, (a: SemverValue, b: SemverValue) => order(a, b) < 0);
  register(`${type}.isGreaterThan(${type}): bool`, (a: SemverValue, b: SemverValue) => order(a, b) > 0);
}

class NamedFormat {
  readonly name: string;
  readonly check: names.NameCheck;
  constructor(name: string, check: names.NameCheck) {
    this.name = name;
    this.check = check;
  }
}

const byFormat =
  (format: string): names.NameCheck =>
  (text) =>
    formatCheck(format)?.(text) === false ? [`must be a valid ${format}`] : [];

const FORMATS: Readonly<Record<string, names.NameCheck>> = {
  dns1123Label: names.dns1123Label,
  dns1123Subdomain: names.dns1123Subdomain,
  dns1035Label: names.dns1035Label,
  qualifiedName: names.qualifiedName,
  dns1123LabelPrefix: names.asPrefix(names.dns1123Label),
  dns1123SubdomainPrefix: names.asPrefix(names.dns1123Subdomain),
  dns1035LabelPrefix: names.asPrefix(names.dns1035Label),
  labelValue: names.labelValue,
  uri: byFormat("uri"),
  uuid: byFormat("uuid"),
  byte: byFormat("byte"),
  date: byFormat("date"),
  datetime: byFormat("date-time"),
};

function registerFormats(environment: Environment, register: Register): void {
  const type = "kubernetes.NamedFormat";
  environment.registerType(type, NamedFormat);
  environment.registerOperator(`${type} == ${type}`, (a: NamedFormat, b: NamedFormat) => a.name === b.name);
  const all = new Map(Object.entries(FORMATS).map(([name, check]) => [name, new NamedFormat(name, check)]));
  const formats = namespace(environment, "format");
  for (const [name, format] of all) register(`${formats}.${name}(): ${type}`, () => format);
  register(`${formats}.named(string): optional<${type}>`, (_: unknown, name: string) => Optional.of(all.get(name)));
  register(`${type}.validate(string): optional<list<string>>`, (format: NamedFormat, text: string) => {
    const faults = format.check(text);
    return faults.length === 0 ? Optional.none() : Optional.of(faults);
  });
}
