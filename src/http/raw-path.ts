/**
 * Recovers how many segments a path had when it came. The runtime resolves `..`, in every spelling, before the URL is
 * visible. So `/docs/../x` would be `/x` here, but something else to a proxy in front. The runtime's router matches the
 * original path: routes with different numbers of segments reveal the original number.
 */

/** The most segments that are counted; our own paths have fewer. */
const DEPTH = 16;

type Serve<Server> = (request: Request, server: Server, segments: number) => Promise<Response>;

/**
 * Routes for every path of up to DEPTH segments, with and without a trailing slash. Other paths must be `serve`d with 0
 * segments.
 */
export function routesBySegments<Server>(serve: Serve<Server>) {
  const routes: Record<string, (request: Request, server: Server) => Promise<Response>> = {};
  for (let path = "", segments = 1; segments <= DEPTH; segments++) {
    path += `/:s${segments}`;
    const handleRequest = (request: Request, server: Server) => serve(request, server, segments);
    routes[path] = handleRequest;
    routes[`${path}/`] = handleRequest;
  }
  return routes;
}

/** Whether the resolved path has as many segments as the original path. */
export function isAsItCame(pathname: string, segments: number): boolean {
  let found = 0;
  for (let at = 0; at < pathname.length - 1; at++) if (pathname[at] === "/" && pathname[at + 1] !== "/") found++;
  return found === segments;
}
