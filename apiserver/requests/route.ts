// From a path to what it means. Here: reading the path of a request. Not here: whether such a resource exists (registry).
import type { RequestInfo } from "../auth-seam.ts";

/** A path split and decoded; undefined parts are absent. */
export interface Route {
  /** Decoded, without trailing slash. */
  readonly path: string;
  readonly isResource: boolean;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  /** A path below a subresource: no resource answers it. */
  readonly rest: readonly string[];
  /** The old form of a watch: `/api/v1/watch/...`. */
  readonly watch: boolean;
}

const elsewhere = (path: string): Route => ({
  path,
  isResource: false,
  group: "",
  version: "",
  resource: "",
  namespace: "",
  name: "",
  subresource: "",
  rest: [],
  watch: false,
});

// Below namespaces/NAME these are not resources of the namespace but subresources of the namespace object.
const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(["status", "finalize"]);

/** @returns undefined for a part that cannot be decoded */
function splitPath(path: string): readonly string[] | undefined {
  const parts = path.split("/");
  parts.shift();
  if (!path.includes("%")) return parts;
  try {
    return parts.map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function areNames(parts: readonly string[], encoded: boolean): boolean {
  for (const part of parts) if (part === "" || (encoded && part.includes("/"))) return false;
  return true;
}

type Parts = Pick<Route, "namespace" | "resource" | "name" | "subresource" | "rest" | "watch">;

function resourceParts(parts: readonly string[]): Parts {
  const [first = "", second = "", third] = parts;
  if (first === "watch" && second !== "") return { ...resourceParts(parts.slice(1)), watch: true };
  if (first === "namespaces" && third !== undefined && !NAMESPACE_SUBRESOURCES.has(third)) {
    return { namespace: second, resource: third, name: parts[3] ?? "", subresource: parts[4] ?? "", rest: parts.slice(5), watch: false };
  }
  // The namespace object itself lives in no namespace, but authorization asks by its name.
  const namespace = first === "namespaces" ? second : "";
  return { namespace, resource: first, name: second, subresource: third ?? "", rest: parts.slice(3), watch: false };
}

/** Clients ask for the same objects again and again. Bounded: a full map starts anew. */
const known = new Map<string, Route>();
const KNOWN_MAX = 20_000;
const KNOWN_LENGTH_MAX = 300;

/** @returns undefined for a path that cannot be decoded, has an empty part inside, or a part with a slash in it */
export function parsePath(wirePath: string): Route | undefined {
  const found = known.get(wirePath);
  if (found) return found;
  const route = parse(wirePath);
  if (route === undefined || wirePath.length > KNOWN_LENGTH_MAX) return route;
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(wirePath, Object.freeze(route));
  return route;
}

function parse(wirePath: string): Route | undefined {
  const trimmed = wirePath.length > 1 && wirePath.endsWith("/") ? wirePath.slice(0, -1) : wirePath;
  if (trimmed === "" || trimmed === "/") return elsewhere("/");
  const parts = splitPath(trimmed);
  const encoded = trimmed.includes("%");
  if (!parts || !areNames(parts, encoded)) return undefined;
  const path = encoded ? `/${parts.join("/")}` : trimmed;
  if (parts[0] === "api" && parts.length >= 3) {
    return { path, isResource: true, group: "", version: parts[1] as string, ...resourceParts(parts.slice(2)) };
  }
  if (parts[0] === "apis" && parts.length >= 4) {
    return { path, isResource: true, group: parts[1] as string, version: parts[2] as string, ...resourceParts(parts.slice(3)) };
  }
  return elsewhere(path);
}

/** The verb of a resource request; undefined for a method that resources do not have. */
export function verbOf(method: string, route: Route, watch: boolean): string | undefined {
  const one = route.name !== "";
  switch (method) {
    case "GET":
      return watch ? "watch" : one ? "get" : "list";
    case "HEAD":
      return one ? "get" : "list";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return one ? "delete" : "deletecollection";
    default:
      return undefined;
  }
}

/** @param selectedName the one name that a field selector of a collection names: rights may be given by it */
export function requestInfo(method: string, route: Route, watch: boolean, selectedName = ""): RequestInfo {
  return {
    isResource: route.isResource,
    verb: route.isResource ? (verbOf(method, route, watch) ?? "") : method.toLowerCase(),
    path: route.path,
    group: route.group,
    version: route.version,
    resource: route.resource,
    subresource: route.subresource,
    namespace: route.namespace,
    name: route.name === "" ? selectedName : route.name,
  };
}
