/**
 * Paths as they came. The runtime resolves `..`, in every spelling, before anybody sees an address, so that `/docs/../x`
 * would be `/x` here and something else to a proxy in front. Its router matches what came: routes that differ in their
 * number of segments show how many there were.
 */

/** Most segments that are counted; our own paths have fewer. */
const DEPTH = 16;

type Serve<Server> = (request: Request, server: Server, segments: number) => Promise<Response>;

/** Routes for every path of up to DEPTH segments, with and without a slash at its end. What matches none is `serve`d with 0. */
export function routesBySegments<Server>(serve: Serve<Server>) {
  const routes: Record<string, (request: Request, server: Server) => Promise<Response>> = {};
  for (let path = "", segments = 1; segments <= DEPTH; segments++) {
    path += `/:s${segments}`;
    const counted = (request: Request, server: Server) => serve(request, server, segments);
    routes[path] = counted;
    routes[`${path}/`] = counted;
  }
  return routes;
}

/** Whether the path of the resolved address is the one that came. */
export function isAsItCame(pathname: string, segments: number): boolean {
  let found = 0;
  for (let at = 0; at < pathname.length - 1; at++) if (pathname[at] === "/" && pathname[at + 1] !== "/") found++;
  return found === segments;
}
