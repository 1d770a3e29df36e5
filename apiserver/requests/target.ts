// What a request is aimed at: its path, its query, and how authorization sees both. Here: the three put together.
import type { ApiRequest } from "../../api/meta/transport.ts";
import type { RequestInfo } from "../auth-seam.ts";
import { flagOf } from "./options.ts";
import { parsePath, requestInfo, type Route } from "./route.ts";

export interface Target {
  readonly route: Route;
  readonly query: URLSearchParams;
  readonly info: RequestInfo;
  readonly watching: boolean;
}

/** The old path of a watch with a name means the collection, narrowed to that name. */
function asWatch(route: Route, query: URLSearchParams): Route {
  if (!route.watch || route.name === "") return route;
  query.append("fieldSelector", `metadata.name=${route.name}`);
  return { ...route, name: "" };
}

const isWatch = (query: URLSearchParams, route: Route): boolean =>
  route.isResource && route.name === "" && (route.watch || flagOf(query, "watch") === true);

const SELECTED_NAME = /(?:^|,)metadata\.name==?([^,]+)(?:,|$)/;

/** @returns undefined for a path that means nothing */
export function targetOf(request: ApiRequest): Target | undefined {
  const parsed = parsePath(request.path);
  if (!parsed) return undefined;
  const query = new URLSearchParams(request.query);
  const route = asWatch(parsed, query);
  const watching = isWatch(query, route);
  const selector = query.get("fieldSelector");
  const selectedName = selector === null ? undefined : SELECTED_NAME.exec(selector)?.[1];
  return { route, query, watching, info: requestInfo(request.method, route, watching, selectedName) };
}
