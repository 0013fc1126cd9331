/** The operations of all features, each with its handler, and the routing of a request to its operation. */
import { memoize } from "../core/lazy.ts";
import { createDispatch, type Found } from "./elysia.ts";
import type { Operation } from "./operation.ts";
import type { Perform } from "./perform.ts";

export interface RouteEntry extends Operation {
  /** Answers a request that the gate has admitted. */
  perform: Perform;
}

export type RouteTable = ReturnType<typeof createRouteTable>;

/** Operations, or a function that makes them when they are first needed. */
export type Routes = readonly Operation[] | (() => readonly Operation[]);

/** The routes of one feature. */
export interface OwnedRoutes {
  owner: string;
  routes: Routes;
}

/**
 * Routes to operations that already exist are found at once; the first request for any other path makes all operations.
 * Every member except `dispatch` makes all of them, and throws an Error when two have the same name.
 * @param performOf makes the function that answers an operation.
 * @param assertOn called before every request; throws Problem when the owner of the operation cannot answer.
 */
export function createRouteTable(
  owned: readonly OwnedRoutes[],
  performOf: (operation: Operation) => Perform,
  assertOn: (owner: string) => void,
) {
  const entryOf = (owner: string, operation: Operation): RouteEntry => {
    const perform = performOf(operation);
    return {
      ...operation,
      perform(asked) {
        assertOn(owner);
        return perform(asked);
      },
    };
  };
  // A path without parameters can only belong to its own feature, whatever operations other features add later.
  const early = memoize(() => {
    const entries = owned
      .flatMap(({ owner, routes }) => (typeof routes === "function" ? [] : routes.map((one) => entryOf(owner, one))))
      .filter(({ path }) => !/[:*]/.test(path));
    return { names: new Set(entries.map(nameOf)), dispatch: createDispatch(entries) };
  });
  let isWhole = false;
  const whole = memoize(() => {
    const entries = owned.flatMap(({ owner, routes }) =>
      (typeof routes === "function" ? routes() : routes).map((one) => entryOf(owner, one)),
    );
    const names = new Set<string>();
    const twice = entries.filter(({ name }) => names.size === names.add(name).size);
    if (twice.length > 0) throw new Error(`operations with another's name: ${twice.map(nameOf).join(", ")}`);
    isWhole = true;
    return {
      entries,
      dispatch: createDispatch(entries),
      roots: new Set(entries.map(({ path }) => path.split("/")[1] ?? "")),
    };
  });
  return {
    get entries(): readonly RouteEntry[] {
      return whole().entries;
    },
    /** First segments of all paths: `v1`, `healthz`. */
    get roots(): ReadonlySet<string> {
      return whole().roots;
    },
    dispatch(request: Request, found: Found<RouteEntry>): Promise<Response | undefined> {
      const isEarly =
        !isWhole && early().names.has(nameOf({ method: request.method, path: new URL(request.url).pathname }));
      return (isEarly ? early() : whole()).dispatch(request, found);
    },
    /** Methods of the path, including HEAD and OPTIONS; empty when there is no such path. */
    methods(path: string): string[] {
      const fitting = whole().entries.filter((entry) => fits(entry.path, path));
      const found = METHODS.filter((method) => fitting.some((entry) => entry.method === method));
      if (found.includes("GET")) found.push("HEAD");
      return found.length > 0 ? [...found, "OPTIONS"] : [];
    },
  };
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

const nameOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;

/** Whether the path matches the route. */
function fits(route: string, path: string): boolean {
  const [words, given] = [route.split("/"), path.split("/")];
  return (
    words.length === given.length && words.every((word, at) => word === given[at] || (word[0] === ":" && given[at]))
  );
}
