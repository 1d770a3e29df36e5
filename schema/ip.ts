// IP addresses and prefixes, parsed strictly. Here: parse, print, contain. Not here: CEL functions over them (cel/).
// Source: Go net/netip ParseAddr and ParsePrefix.

/** 4 or 16 bytes; `text` as it was written. */
export interface Ip {
  readonly family: 4 | 6;
  readonly bytes: readonly number[];
}

export interface Cidr {
  readonly ip: Ip;
  readonly bits: number;
}

export function parseIp(text: string): Ip | undefined {
  if (text.includes(":")) return parseIpv6(text);
  const bytes = parseIpv4(text);
  return bytes && { family: 4, bytes };
}

function parseIpv4(text: string): number[] | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  const bytes: number[] = [];
  for (const part of parts) {
    if (!/^(?:0|[1-9][0-9]{0,2})$/.test(part) || Number(part) > 255) return undefined;
    bytes.push(Number(part));
  }
  return bytes;
}

function parseGroups(text: string, last: boolean): number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] as string;
    if (last && i === parts.length - 1 && part.includes(".")) {
      const v4 = parseIpv4(part);
      if (!v4) return undefined;
      groups.push((v4[0] as number) * 256 + (v4[1] as number), (v4[2] as number) * 256 + (v4[3] as number));
    } else if (/^[0-9A-Fa-f]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}

function parseIpv6(text: string): Ip | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const head = parseGroups(halves[0] as string, halves.length === 1);
  const tail = halves.length === 2 ? parseGroups(halves[1] as string, true) : [];
  if (!head || !tail) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...new Array<number>(missing).fill(0), ...tail];
  return { family: 6, bytes: groups.flatMap((group) => [group >> 8, group & 0xff]) };
}

/** Canonical text (RFC 5952). */
export function ipText(ip: Ip): string {
  if (ip.family === 4) return ip.bytes.join(".");
  const groups: number[] = [];
  for (let i = 0; i < 16; i += 2) groups.push((ip.bytes[i] as number) * 256 + (ip.bytes[i + 1] as number));
  let best = { at: -1, length: 1 };
  for (let i = 0; i < 8; i++) {
    let length = 0;
    while (i + length < 8 && groups[i + length] === 0) length++;
    if (length > best.length) best = { at: i, length };
  }
  const hex = groups.map((group) => group.toString(16));
  if (best.at < 0) return hex.join(":");
  return `${hex.slice(0, best.at).join(":")}::${hex.slice(best.at + best.length).join(":")}`;
}

/** An IPv4 address written as IPv6 (`::ffff:1.2.3.4`). */
export const isMappedIpv4 = (ip: Ip): boolean =>
  ip.family === 6 && ip.bytes.slice(0, 10).every((b) => b === 0) && ip.bytes[10] === 255 && ip.bytes[11] === 255;

export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf("/");
  if (slash < 0) return undefined;
  const ip = parseIp(text.slice(0, slash));
  const bits = text.slice(slash + 1);
  if (!ip || !/^(?:0|[1-9][0-9]{0,2})$/.test(bits) || Number(bits) > ip.bytes.length * 8) return undefined;
  return { ip, bits: Number(bits) };
}

export const cidrText = (cidr: Cidr): string => `${ipText(cidr.ip)}/${cidr.bits}`;

/** The address with all host bits cleared. */
export function masked(cidr: Cidr): Cidr {
  const bytes = cidr.ip.bytes.map((byte, i) => {
    const keep = Math.min(8, Math.max(0, cidr.bits - i * 8));
    return byte & (0xff00 >> keep) & 0xff;
  });
  return { ip: { family: cidr.ip.family, bytes }, bits: cidr.bits };
}

export function containsIp(cidr: Cidr, ip: Ip): boolean {
  if (cidr.ip.family !== ip.family) return false;
  return masked({ ip, bits: cidr.bits }).ip.bytes.every((byte, i) => byte === masked(cidr).ip.bytes[i]);
}

export const containsCidr = (outer: Cidr, inner: Cidr): boolean => inner.bits >= outer.bits && containsIp(outer, inner.ip);
