/** The routes of all features with the access each declares. What declares nothing cannot be served. */
import type { AnyElysia } from "elysia";
import Memoirist from "memoirist";
import { lazy } from "../core/lazy.ts";
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
  /** Answers a request that may be made. */
  handle(request: Request): Response | Promise<Response>;
}

export interface RouteTable {
  /** The application with all routes, for its document. */
  readonly app: AnyElysia;
  readonly entries: readonly RouteEntry[];
  /** First words of the paths: `v1`, `healthz`. */
  readonly roots: ReadonlySet<string>;
  find(method: string, path: string): RouteEntry | undefined;
  /** Methods that the path has, HEAD and OPTIONS included; empty when there is no such path. */
  methods(path: string): string[];
}

/** The routes of one feature, or what makes them when they are first needed. */
export type Routes = AnyElysia | (() => AnyElysia);

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/**
 * Routes that are made already are found at once; the first request for any other path makes all. Every member but
 * `find` makes all, and throws an Error naming every route that declares no access.
 * @param assemble puts routes together into an application that answers.
 */
export function createRouteTable(
  routes: readonly Routes[],
  assemble: (routes: readonly AnyElysia[]) => AnyElysia,
): RouteTable {
  // A path without parameters belongs to its own feature alone, whatever routes the others will bring.
  const early = lazy(() => {
    const made = entriesOf(assemble(routes.filter((one) => typeof one !== "function")));
    return new Map(made.filter(({ path }) => !/[:*]/.test(path)).map((entry) => [nameOf(entry), entry]));
  });
  const all = lazy(() => {
    const app = assemble(routes.map((one) => (typeof one === "function" ? one() : one)));
    const entries = entriesOf(app);
    const router = new Memoirist<RouteEntry>();
    for (const entry of entries) router.add(entry.method, entry.path, entry);
    return { app, entries, router, roots: new Set(entries.map(({ path }) => path.split("/")[1] ?? "")) };
  });
  const find = (method: string, path: string) =>
    early().get(nameOf({ method, path })) ?? all().router.find(method, path)?.store;
  return {
    get app() {
      return all().app;
    },
    get entries() {
      return all().entries;
    },
    get roots() {
      return all().roots;
    },
    find,
    methods(path) {
      const found = METHODS.filter((method) => find(method, path));
      if (found.includes("GET")) found.push("HEAD");
      return found.length > 0 ? [...found, "OPTIONS"] : [];
    },
  };
}

const nameOf = ({ method, path }: Pick<RouteEntry, "method" | "path">): string => `${method} ${path}`;

function entriesOf(app: AnyElysia): RouteEntry[] {
  const handle = (request: Request) => app.handle(request);
  const bare: string[] = [];
  const entries = app.routes.flatMap((route): RouteEntry[] => {
    const hooks: {
      access?: Access;
      execution?: boolean;
      webhook?: boolean;
      type?: string;
      limit?: RateLimitName;
      body?: unknown;
      detail?: { operationId?: string };
    } = route.hooks;
    if (!hooks.access) {
      bare.push(`${route.method} ${route.path}`);
      return [];
    }
    return [
      {
        method: route.method,
        path: route.path,
        access: hooks.access,
        execution: hooks.execution === true,
        uploads: hooks.type === "multipart/form-data" || hooks.type === "formdata",
        webhook: hooks.webhook === true,
        body: hooks.body,
        limit: hooks.limit,
        operationId: hooks.detail?.operationId,
        handle,
      },
    ];
  });
  if (bare.length > 0) throw new Error(`routes without access: ${bare.join(", ")}`);
  return entries;
}
