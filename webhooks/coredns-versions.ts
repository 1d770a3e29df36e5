// CoreDNS versions between which a Corefile can be migrated. Source: spec/api/kubeadmcontrolplane.md section 4, U6.

const RANGES = (
  "1.1.3 1.1.4 1.2.0-6 1.3.0 1.3.1 1.4.0 1.5.0-2 1.6.0-7 1.6.9 1.7.0 1.7.1 1.8.0 1.8.3-7 1.9.0-4 1.10.0 1.10.1 " +
  "1.11.0 1.11.1 1.11.3 1.11.4 1.12.0-4 1.13.0-2 1.14.0-4 1.14.6"
).split(" ");

export const CORE_DNS_VERSIONS: ReadonlySet<string> = new Set(
  RANGES.flatMap((range) => {
    const [major, minor, patches = ""] = range.split(".");
    const [first, last = first] = patches.split("-").map(Number);
    return Array.from({ length: (last ?? 0) - (first ?? 0) + 1 }, (_, i) => `${major}.${minor}.${(first ?? 0) + i}`);
  }),
);
