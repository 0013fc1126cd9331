/**
 * The only file that knows the framework, which serves as the router: it finds the operation for a request's method and
 * path, and calls it. The gate (`gate.ts`) and calls inside the server (`inner-call.ts`) decide what happens then.
 */
import { Elysia } from "elysia";

interface Routed {
  readonly method: string;
  readonly path: string;
}

/** Answers a request for the route that was found. */
export type Found<R> = (route: R, params: Record<string, string>) => Promise<Response>;

/**
 * Routes one request. @returns the answer; undefined when no route has this method and path.
 * @throws whatever `found` throws.
 */
type Dispatch<R> = (request: Request, found: Found<R>) => Promise<Response | undefined>;

export function createDispatch<R extends Routed>(routes: readonly R[]): Dispatch<R> {
  const asking = new WeakMap<Request, Found<R>>();
  // Accept one-letter host names: the path begins at the first slash after `http://`.
  const app = new Elysia({ handler: { standardHostname: false } });
  for (const route of routes)
    app.route(
      route.method,
      route.path,
      ({ request, params }) => {
        const found = asking.get(request);
        if (!found) throw new Error("A request reached the router without the gate.");
        // `params` is undefined for a path without parameters.
        return found(route, params ?? {});
      },
      // The gate has already read the body.
      { parse: "none" },
    );
  app.onError(() => answerNothing());
  return async (request, found) => {
    let fault: { error: unknown } | undefined;
    let isFound = false;
    asking.set(request, async (route, params) => {
      isFound = true;
      try {
        return await found(route, params);
      } catch (error) {
        fault = { error };
        return answerNothing();
      }
    });
    const response = await app.handle(request);
    if (fault) throw fault.error;
    return isFound ? response : undefined;
  };
}

/** What the framework gets when there is no answer. It is never sent. */
const answerNothing = () => new Response(null, { status: 404 });
