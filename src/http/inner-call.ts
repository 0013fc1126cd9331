/**
 * Calls an operation of this API inside the server on behalf of a caller, with the same rights, scopes, checks and
 * answers as over the network.
 */
import { notFound, Problem } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { valueFault } from "../core/json-reader.ts";
import { LIMITS } from "../core/limits.ts";
import type { Store } from "../store/store.ts";
import { type Caller, findDenial } from "./caller.ts";
import { tooMuchJson } from "./json-body.ts";
import type { RouteTable } from "./route-table.ts";
import { scopeDenial, withinScopes } from "./scopes.ts";
import { standingOf } from "./standing.ts";

export interface InnerRequest {
  method: string;
  /** Path with its parameters filled in, percent-encoded. */
  path: string;
  query?: URLSearchParams;
  /** A JSON value. */
  body?: unknown;
  signal?: AbortSignal;
}

/**
 * @returns the answer. Problems are returned as answers, too, except those that refuse the caller.
 * @throws Problem 400 `too_much_json`, 401, 403, 404, 413.
 */
export type InnerCall = (caller: Caller, request: InnerRequest) => Promise<Response>;

interface InnerCallDeps {
  /** Complete once every feature has been created. */
  getTable(): RouteTable;
  store: Pick<Store, "runAs">;
}

export function createInnerCall({ getTable, store }: InnerCallDeps): InnerCall {
  return async (asked, { method, path, query, body, signal }) => {
    // Checked before the value is written as JSON, which would take seconds for deeply nested lists.
    const fault = valueFault(body);
    if (fault !== undefined) throw tooMuchJson(fault);
    const bytes = body === undefined ? null : new TextEncoder().encode(JSON.stringify(body));
    if (bytes && bytes.byteLength > LIMITS.bodyBytes)
      throw new Problem(413, "too_large", `A body holds at most ${LIMITS.bodyBytes} bytes.`);
    // The path as the router sees it, after segments such as `..` are resolved.
    const url = new URL(`http://skep.internal${path}`);
    url.search = query?.toString() ?? "";
    const headers = { Accept: "application/json", ...(bytes ? { "Content-Type": "application/json" } : {}) };
    const request = new Request(url.href, { method, headers, signal: signal ?? null });
    const response = await getTable().dispatch(request, async (route, params) => {
      const refused = findDenial(asked, route) ?? scopeDenial(asked, route);
      if (refused) throw refused;
      const caller = withinScopes(asked, route);
      const input = { path: url.pathname, query: url.searchParams, params, bytes, form: null };
      const standing = standingOf(caller);
      try {
        standing.assertHolds();
        return await store.runAs(standing, () =>
          route.perform({ request, ...input, caller, requestId: newId("request"), pending: null }),
        );
      } finally {
        standing.end();
      }
    });
    if (!response) throw notFound("operation");
    return response;
  };
}
