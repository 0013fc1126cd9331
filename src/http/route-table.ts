/** The routes of the application with the access each declares. What declares nothing cannot be started. */
import type { AnyElysia } from "elysia";
import Memoirist from "memoirist";
import type { Access, RouteAccess } from "./caller.ts";
import type { RateLimitName } from "./rate-limit.ts";

export interface RouteEntry extends RouteAccess {
  method: string;
  /** As declared, with `:name` parameters. */
  path: string;
  /** Largest body in bytes that the route takes. */
  uploads: boolean;
  /** Takes a signed body of a service that has no credential: a larger one than strangers may send elsewhere. */
  webhook: boolean;
  /** Schema of the body that it takes. */
  body?: unknown;
  /** A limit of its own, by address, before the credential is looked at. */
  limit?: RateLimitName | undefined;
  /** Its name in the OpenAPI document, where the path does not give a good one. */
  operationId?: string | undefined;
}

export interface RouteTable {
  readonly entries: readonly RouteEntry[];
  /** First words of the paths: `v1`, `healthz`. */
  readonly roots: ReadonlySet<string>;
  find(method: string, path: string): RouteEntry | undefined;
  /** Methods that the path has, HEAD and OPTIONS included; empty when there is no such path. */
  methods(path: string): string[];
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** @throws Error naming every route that declares no access. */
export function createRouteTable(app: AnyElysia): RouteTable {
  const router = new Memoirist<RouteEntry>();
  const entries: RouteEntry[] = [];
  const bare: string[] = [];
  for (const route of app.routes) {
    const hooks = route.hooks as {
      access?: Access;
      execution?: boolean;
      webhook?: boolean;
      type?: string;
      limit?: RateLimitName;
      body?: unknown;
      detail?: { operationId?: string };
    };
    if (!hooks.access) {
      bare.push(`${route.method} ${route.path}`);
      continue;
    }
    const uploads = hooks.type === "multipart/form-data" || hooks.type === "formdata";
    const entry = {
      method: route.method,
      path: route.path,
      access: hooks.access,
      execution: hooks.execution === true,
      uploads,
      webhook: hooks.webhook === true,
      body: hooks.body,
      limit: hooks.limit,
      operationId: hooks.detail?.operationId,
    };
    entries.push(entry);
    router.add(route.method, route.path, entry);
  }
  if (bare.length > 0) throw new Error(`routes without access: ${bare.join(", ")}`);
  const find = (method: string, path: string) => router.find(method, path)?.store;
  return {
    entries,
    roots: new Set(entries.map(({ path }) => path.split("/")[1] ?? "")),
    find,
    methods(path) {
      const found = METHODS.filter((method) => find(method, path));
      if (found.includes("GET")) found.push("HEAD");
      return found.length > 0 ? [...found, "OPTIONS"] : [];
    },
  };
}
