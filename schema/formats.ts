// String formats that the API server checks; an unknown format means nothing.
// Here: one predicate per format. Source: kube-openapi strfmt; the list of supported formats of CustomResourceDefinitions.
import { parseCidr, parseIp } from "./ip.ts";
import { dns1123Label, dns1123Subdomain } from "./names.ts";

export type FormatCheck = (text: string) => boolean;

const matches =
  (pattern: RegExp): FormatCheck =>
  (text) =>
    pattern.test(text);

const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDay(year: number, month: number, day: number): boolean {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 && !leap ? 28 : (DAYS[month - 1] ?? 0);
  return day >= 1 && day <= days;
}

function isDate(text: string): boolean {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  return found !== null && isDay(Number(found[1]), Number(found[2]), Number(found[3]));
}

const DATE_TIME = /^(\d{4})-(\d{2})-(\d{2})t(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:z|[+-]\d{2}:\d{2})$/i;

function isDateTime(text: string): boolean {
  const found = DATE_TIME.exec(text);
  return found !== null && isDay(Number(found[1]), Number(found[2]), Number(found[3]));
}

const GO_DURATION = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const WORD_DURATION =
  /^(?:\d+\s*(?:ns|nanos?|us|µs|micros?|ms|millis?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?)\s*)+$/i;
const isDuration: FormatCheck = (text) => GO_DURATION.test(text) || WORD_DURATION.test(text);

/** As Go's url.ParseRequestURI: an absolute URI or an absolute path. */
export function isUri(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (text === "" || /[\x00-\x1f\x7f]/.test(text)) return false;
  if (/%(?![0-9A-Fa-f]{2})/.test(text.split("?")[0] as string)) return false;
  if (text.startsWith("/")) return true;
  const found = /^[A-Za-z][A-Za-z0-9+.-]*:(.*)$/.exec(text);
  if (!found) return false;
  const rest = found[1] as string;
  if (!rest.startsWith("//")) return rest.startsWith("/") || rest.length > 0;
  const host = /^\/\/(?:[^/?#@]*@)?(\[[0-9A-Fa-f:.%]*\]|[^/?#:[\] ]*)(:\d*)?(?:[/?#]|$)/.exec(rest);
  return host !== null;
}

const isEmail: FormatCheck = (text) =>
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$/.test(text) &&
  !text.startsWith(".") &&
  !text.includes("..") &&
  !text.includes(".@");

const isHostname: FormatCheck = (text) =>
  text.length <= 255 &&
  /^[\p{L}\p{N}](?:[\p{L}\p{N}_-]{0,61}[\p{L}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{N}_-]{0,61}[\p{L}\p{N}])?)*\.?$/u.test(text);

// The empty text is not base64 to the server.
const isBase64: FormatCheck = (text) => text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);

const digits = (text: string): string => text.replace(/[\s-]/g, "");

const isIsbn10: FormatCheck = (text) => {
  const isbn = digits(text);
  if (!/^\d{9}[\dX]$/.test(isbn)) return false;
  const sum = [...isbn].reduce((total, c, i) => total + (i + 1) * (c === "X" ? 10 : Number(c)), 0);
  return sum % 11 === 0;
};
const isIsbn13: FormatCheck = (text) => {
  const isbn = digits(text);
  return /^\d{13}$/.test(isbn) && [...isbn].reduce((total, c, i) => total + Number(c) * (i % 2 === 0 ? 1 : 3), 0) % 10 === 0;
};
const isCreditCard: FormatCheck = (text) => {
  const card = text.replace(/\D/g, "");
  if (card.length < 13 || card.length > 19) return false;
  const sum = [...card].reverse().reduce((total, c, i) => {
    const doubled = Number(c) * (i % 2 === 1 ? 2 : 1);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
};

const uuid = (version: string, variant: string): FormatCheck =>
  matches(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`, "i"));

const CHECKS: Readonly<Record<string, FormatCheck>> = {
  bsonobjectid: matches(/^[0-9a-f]{24}$/i),
  uri: isUri,
  email: isEmail,
  hostname: isHostname,
  ipv4: (text) => parseIp(text)?.family === 4,
  ipv6: (text) => parseIp(text)?.family === 6,
  cidr: (text) => parseCidr(text) !== undefined,
  mac: matches(
    /^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}(?:(?:\1[0-9a-f]{2}){2})?|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}(?:\.[0-9a-f]{4})?)$/i,
  ),
  uuid: uuid("[0-9a-f]", "[0-9a-f]"),
  uuid3: uuid("3", "[0-9a-f]"),
  uuid4: uuid("4", "[89ab]"),
  uuid5: uuid("5", "[89ab]"),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  hexcolor: matches(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i),
  rgbcolor: matches(
    /^rgb\(\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$/,
  ),
  byte: isBase64,
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  "date-time": isDateTime,
  "k8s-short-name": (text) => dns1123Label(text).length === 0,
  "k8s-long-name": (text) => dns1123Subdomain(text).length === 0,
};

/** @returns undefined for a format that is not checked. Dashes do not matter: `dateTime`, `date-time`. */
export function formatCheck(format: string): FormatCheck | undefined {
  if (Object.hasOwn(CHECKS, format)) return CHECKS[format];
  const plain = format.replace(/-/g, "");
  return Object.hasOwn(CHECKS, plain) ? CHECKS[plain] : undefined;
}
