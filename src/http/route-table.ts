/** The operations of all features by method and path, each with what answers it. */
import type { AnyElysia } from "elysia";
import Memoirist from "memoirist";
import { lazy } from "../core/lazy.ts";
import type { Operation } from "./operation.ts";

export interface RouteEntry extends Operation {
  /** Answers a request that may be made. */
  handle(request: Request): Response | Promise<Response>;
}

export interface RouteTable {
  /** The application with all operations, for its document. */
  readonly app: AnyElysia;
  readonly entries: readonly RouteEntry[];
  /** First words of the paths: `v1`, `healthz`. */
  readonly roots: ReadonlySet<string>;
  find(method: string, path: string): RouteEntry | undefined;
  /** Methods that the path has, HEAD and OPTIONS included; empty when there is no such path. */
  methods(path: string): string[];
}

/** Operations, or what makes them when they are first needed. */
export type Routes = readonly Operation[] | (() => readonly Operation[]);

/** The routes of one feature. */
export interface OwnedRoutes {
  owner: string;
  routes: Routes;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/**
 * Operations that are made already are found at once; the first request for any other path makes all. Every member but
 * `find` makes all, and throws an Error when two have one name.
 * @param serve puts operations together into an application that answers.
 * @param assertOn asked before every request: throws Problem where the owner of the operation cannot answer.
 */
export function createRouteTable(
  owned: readonly OwnedRoutes[],
  serve: (operations: readonly Operation[]) => AnyElysia,
  assertOn: (owner: string) => void,
): RouteTable {
  const put = (parts: readonly { owner: string; operations: readonly Operation[] }[]) => {
    const app = serve(parts.flatMap(({ operations }) => operations));
    const entries = parts.flatMap(({ owner, operations }) =>
      operations.map((one): RouteEntry => {
        const handle = (request: Request) => {
          assertOn(owner);
          return app.handle(request);
        };
        return { ...one, handle };
      }),
    );
    return { app, entries };
  };
  // A path without parameters belongs to its own feature alone, whatever operations the others will bring.
  const early = lazy(() => {
    const { entries } = put(
      owned.flatMap(({ owner, routes }) => (typeof routes === "function" ? [] : { owner, operations: routes })),
    );
    return new Map(entries.filter(({ path }) => !/[:*]/.test(path)).map((entry) => [nameOf(entry), entry]));
  });
  const all = lazy(() => {
    const made = put(
      owned.map(({ owner, routes }) => ({ owner, operations: typeof routes === "function" ? routes() : routes })),
    );
    const router = new Memoirist<RouteEntry>();
    const twice = made.entries.filter(({ name }, at) => made.entries.findIndex((one) => one.name === name) !== at);
    if (twice.length > 0) throw new Error(`operations with another's name: ${twice.map(nameOf).join(", ")}`);
    for (const entry of made.entries) router.add(entry.method, entry.path, entry);
    return { ...made, router, roots: new Set(made.entries.map(({ path }) => path.split("/")[1] ?? "")) };
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

const nameOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;
