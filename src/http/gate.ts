/**
 * The gate before every operation. It checks in this order: request id, host and origin, route, the route's rate limit,
 * credential, access and scopes, the caller's rate limit, the body, the credential again, idempotency. No part of a
 * request is parsed, and no handler runs, before the caller is allowed to make it and is still allowed once the body
 * has arrived.
 */
import type { Logger } from "pino";
import type { Config } from "../core/config.ts";
import { badRequest, forbidden, isProblem, Problem } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { LIMITS } from "../core/limits.ts";
import type { createTurnQueue } from "../core/turns.ts";
import type { Store } from "../store/store.ts";
import { clientAddress, hostAllowed, isHost, isPreviewOrigin, originAllowed } from "./address.ts";
import type { Asked } from "./asked.ts";
import type { Bodies } from "./body.ts";
import { ANONYMOUS, type Caller, findDenial } from "./caller.ts";
import { compress, unlessSame } from "./compression.ts";
import type { Found } from "./elysia.ts";
import type { Idempotency } from "./idempotency.ts";
import type { Metrics } from "./metrics.ts";
import { problemResponse, toProblem } from "./problem.ts";
import type { RateLimits } from "./rate-limit.ts";
import { isAsItCame } from "./raw-path.ts";
import type { RouteEntry, RouteTable } from "./route-table.ts";
import { scopeDenial, withinScopes } from "./scopes.ts";
import type { Site } from "./site.ts";
import { standingOf } from "./standing.ts";

export interface GateDeps {
  table: RouteTable;
  config: Config;
  log: Logger;
  bodies: Bodies;
  /** Its transactions check that the request's caller still has its rights. */
  store: Pick<Store, "runAs">;
  idempotency: Idempotency;
  metrics: Metrics;
  limits: RateLimits;
  /**
   * Awaited before each request that may change something, so that many of them at once do not hold up other requests.
   */
  changing: ReturnType<typeof createTurnQueue>;
  site: Site;
  /** Counts answered requests of authenticated callers, and also anonymous ones where no credential is needed. */
  count?(request: { method: string; route: string; status: number; caller: string; durationMs: number }): void;
  /** Finds the caller by the request's credential; anonymous when there is none. Throws Problem 401 for a bad one. */
  authenticate(request: Request, address: string): Caller | Promise<Caller>;
}

/** Facts about a request that are not in the request itself. */
interface Arrival {
  /** Address of the socket's peer. */
  address: string;
  /** How many segments the path had before it was resolved (see `raw-path.ts`). */
  segments: number;
}

/** Handles one request. Never throws. */
export type Gate = (request: Request, arrival: Arrival) => Promise<Response>;

const SAFE_ID = /^[A-Za-z0-9._:-]{1,128}$/;
const READING = new Set(["GET", "HEAD", "OPTIONS"]);

export function createGate(deps: GateDeps): Gate {
  const { config, log, metrics } = deps;
  const assertOurs = hostCheck(config);
  return async (request, { address: socketAddress, segments }) => {
    const started = performance.now();
    const given = request.headers.get("x-request-id");
    const requestId =
      given && SAFE_ID.test(given) && given.length <= LIMITS.requestIdCharacters ? given : newId("request");
    const seen: Seen = { headers: {} };
    let path = "/";
    let response: Response;
    try {
      assertOurs(request.headers.get("host"));
      const url = addressOf(request);
      path = url.pathname.length > 1 ? url.pathname.replace(/\/$/, "") : url.pathname;
      assertPlainPath(url.pathname, segments);
      response = await pass(deps, request, { url, path, requestId, socketAddress, seen });
    } catch (error) {
      const { problem, internal } = toProblem(error);
      if (internal) log.error({ requestId, path, err: error }, "request failed");
      response = problemResponse(problem, { requestId, path });
    }
    const route = seen.route?.path ?? "(none)";
    const durationMs = performance.now() - started;
    metrics.request(request.method, route, response.status, durationMs / 1_000);
    if (seen.caller)
      deps.count?.({
        method: request.method,
        route,
        status: response.status,
        caller: seen.caller.userId ?? seen.caller.kind,
        durationMs,
      });
    log.debug({ requestId, method: request.method, route, status: response.status }, "request");
    return finish(response, request, { requestId, config, site: deps.site, headers: seen.headers });
  };
}

interface Seen {
  route?: RouteEntry | undefined;
  /** Undefined while the caller is unknown, and for anonymous callers who are refused: they leave no rows. */
  caller?: Caller | undefined;
  /** Headers of the rate limits that counted the request. */
  headers: Record<string, string>;
}

interface Passing {
  url: URL;
  path: string;
  requestId: string;
  socketAddress: string;
  seen: Seen;
}

async function pass(
  deps: GateDeps,
  request: Request,
  { url, path, requestId, socketAddress, seen }: Passing,
): Promise<Response> {
  const { table, config } = deps;
  checkSender(request, config);
  const onFound: Found<RouteEntry> = (route, params) => {
    seen.route = route;
    return admit(deps, request, { url, path, requestId, socketAddress, seen, params }, route);
  };
  const asked = request.method === "HEAD" ? withMethod(request, "GET") : request;
  const response = await table.dispatch(asked, onFound);
  if (response) return response;
  const start = table.entries.find((entry) => entry.method === "GET" && entry.path === "/");
  return start && isPage(table, request, path) ? onFound(start, {}) : withoutRoute(table, request, path);
}

const withMethod = ({ url, headers, signal }: Request, method: string): Request =>
  new Request(url, { method, headers, signal });

/** Passes the request to its operation, or refuses it. */
async function admit(
  deps: GateDeps,
  request: Request,
  { url, path, requestId, socketAddress, seen, params }: Passing & { params: Record<string, string> },
  route: RouteEntry,
): Promise<Response> {
  const { config, limits } = deps;
  const address = clientAddress(socketAddress, request.headers.get("x-forwarded-for"), config.trustedProxies);
  if (route.limit) seen.headers = limits.route(route.limit, address);
  const caller: Caller = { ...(await callerOf(deps, request, address, route)), address };
  if (!route.limit) seen.headers = limits.caller(caller);
  if (caller.kind !== "anonymous") seen.caller = caller;
  const refused = findDenial(caller, route) ?? scopeDenial(caller, route);
  if (refused) throw refused;
  seen.caller = caller;
  const asked = { request, path, query: url.searchParams, params, caller: withinScopes(caller, route), requestId };
  if (READING.has(request.method)) {
    const response = unlessSame(request, await read(deps, { ...asked, bytes: null, form: null }, route));
    if (request.method !== "HEAD") return response;
    await response.body?.cancel();
    return new Response(null, response);
  }
  const body = await deps.bodies.read(request, route, caller);
  const standing = standingOf(caller);
  try {
    await deps.changing(caller.userId ?? address);
    standing.assertHolds();
    return await deps.store.runAs(standing, () =>
      answerOnce(deps, { ...asked, bytes: body.bytes, form: body.form ?? null }, route),
    );
  } finally {
    standing.end();
    body.release();
  }
}

/** Answers a GET, compressed if that is allowed. */
async function read(deps: GateDeps, asked: Admitted, route: RouteEntry): Promise<Response> {
  const response = await answerOnce(deps, asked, route);
  return route.credential ? response : compress(response, asked.request.headers.get("accept-encoding"));
}

type Admitted = Omit<Asked, "pending">;

/** Performs the operation, unless an answer is already stored for the request's Idempotency-Key. */
async function answerOnce({ idempotency }: GateDeps, asked: Admitted, route: RouteEntry): Promise<Response> {
  const pending = idempotency.begin(asked.request, asked.path, asked.bytes, asked.caller);
  if (pending instanceof Response) return pending;
  try {
    return await route.perform({ ...asked, pending });
  } finally {
    if (pending) idempotency.end(pending);
  }
}

/**
 * Finds the caller. On public routes, and on the route that refuses callers itself (`env`), a bad credential counts as
 * none.
 */
async function callerOf(
  { authenticate, limits }: GateDeps,
  request: Request,
  address: string,
  route: RouteEntry,
): Promise<Caller> {
  try {
    return await authenticate(request, address);
  } catch (error) {
    if ((route.access === "env" || route.access === "public") && isProblem(error)) return ANONYMOUS;
    limits.caller({ ...ANONYMOUS, address });
    throw error;
  }
}

/**
 * Refuses host names that are not ours. The last accepted host is remembered, because most requests name the same one.
 * @returns a function that throws Problem 400, 421.
 */
function hostCheck(config: Config): (host: string | null) => void {
  let known: string | null = null;
  return (host) => {
    if (host !== null && host === known) return;
    if (!isHost(host))
      throw badRequest("The request needs one Host header: a name or address, and perhaps a port.", "bad_host");
    if (!hostAllowed(host, config))
      throw new Problem(
        421,
        "foreign_host",
        "This server does not answer to that name. Set PUBLIC_URL or ALLOWED_HOSTS to name it.",
      );
    known = host;
  };
}

/** @throws Problem 400 unless the request's target is a path. */
function addressOf(request: Request): URL {
  const url = URL.parse(request.url);
  if (url?.protocol !== "http:") throw badRequest("The request's target is not a path of this server.", "bad_path");
  return url;
}

/** Refuses changes requested by a foreign page, and every request of a preview's page, regardless of CORS_ORIGINS. */
function checkSender(request: Request, config: Config): void {
  const origin = request.headers.get("origin");
  if (origin !== null && isPreviewOrigin(origin, config)) throw foreignOrigin();
  if (READING.has(request.method)) return;
  if (!sameOrigin(request, config)) throw foreignOrigin();
}

const foreignOrigin = () =>
  forbidden("This page's origin may not change anything here. List it in CORS_ORIGINS.", "foreign_origin");

function sameOrigin(request: Request, config: Config): boolean {
  const origin = request.headers.get("origin");
  if (origin === null && request.headers.get("sec-fetch-site") === "cross-site") return false;
  return originAllowed(origin, request.headers.get("host"), config);
}

/** Refuses paths that two parts of a system could read differently, so that every path has a single spelling. */
function assertPlainPath(pathname: string, segments: number): void {
  if (/\/\/|[\\;]|%5c|%00|%2e/i.test(pathname) || /[\x00-\x1f\x7f]/.test(pathname))
    throw new Problem(400, "bad_path", "The path is not spelled plainly.");
  try {
    decodeURIComponent(pathname);
  } catch {
    throw new Problem(400, "bad_path", "The path is not valid percent-encoded UTF-8.");
  }
  if (!isAsItCame(pathname, segments)) throw nothingHere();
}

/** Whether a browser asks for a page of the dashboard: its path does not begin with the first segment of any route. */
function isPage(table: RouteTable, request: Request, path: string): boolean {
  if (request.method !== "GET" && request.method !== "HEAD") return false;
  if (!request.headers.get("accept")?.includes("text/html")) return false;
  return !table.roots.has(path.split("/")[1] ?? "");
}

function withoutRoute(table: RouteTable, request: Request, path: string): Response {
  const allow = table.methods(path).join(", ");
  if (!allow) throw nothingHere();
  if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: { Allow: allow } });
  throw new Problem(405, "method_not_allowed", `This path takes ${allow}.`, { headers: { Allow: allow } });
}

const nothingHere = () =>
  new Problem(404, "not_found", "There is nothing at this path. GET /openapi.json lists what there is.");

interface Finishing {
  requestId: string;
  config: Config;
  site: Site;
  headers: Record<string, string>;
}

function finish(response: Response, request: Request, { requestId, config, site, headers: more }: Finishing): Response {
  const { headers } = response;
  for (const [name, value] of Object.entries(more)) headers.set(name, value);
  const location = headers.get("Location");
  // Features use paths of ours. A proxy that serves us below a path removed that path, so it is added here.
  if (site.prefix && location?.startsWith("/v1/")) headers.set("Location", site.prefix + location);
  headers.set("X-Request-Id", requestId);
  headers.set("X-Content-Type-Options", "nosniff");
  headers.set("Referrer-Policy", "no-referrer");
  if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
  const origin = request.headers.get("origin");
  if (origin && config.corsOrigins.includes(origin)) {
    headers.set("Access-Control-Allow-Origin", origin);
    headers.append("Vary", "Origin");
    headers.set("Access-Control-Expose-Headers", "ETag, Location, X-Request-Id, Retry-After");
    if (request.method === "OPTIONS") {
      headers.set("Access-Control-Allow-Methods", headers.get("Allow") ?? "GET");
      headers.set(
        "Access-Control-Allow-Headers",
        "Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, X-Request-Id",
      );
      headers.set("Access-Control-Max-Age", "600");
    }
  }
  return response;
}
