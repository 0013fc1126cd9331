/**
 * The protocol library's handler over HTTP, loaded when the first client comes. A request of the newer revision, or of
 * an older client without a session, gets a server object of its own; an older client that initializes gets a session.
 */
import type * as Library from "@modelcontextprotocol/server";
import type { Caller } from "../../http/caller.ts";
import { createSessions, SESSION_HEADER, type Sessions } from "./sessions.ts";

export type BuildServer = (
  library: typeof Library,
  caller: Caller,
) => Promise<Library.Server | Library.McpServer> | Library.Server | Library.McpServer;

export interface Endpoint {
  /** Answers a request of a caller who was let in. */
  answer(request: Request, caller: Caller): Promise<Response>;
  close(): Promise<void>;
}

/** The caller of this request; its rights may have changed since its session was opened. */
export const callerOf = (ctx: Library.ServerContext, opened: Caller): Caller =>
  (ctx.http?.authInfo?.extra?.["caller"] as Caller | undefined) ?? opened;

interface Opened {
  library: typeof Library;
  handler: Library.McpHttpHandler;
  sessions: Sessions;
}

/** Streams of subscriptions that are open at once. */
const SUBSCRIPTIONS = 64;
/** An `initialize` is short; what is longer is answered without a session. */
const INITIALIZE_BYTES = 64 * 1024;

export function createEndpoint(build: BuildServer, onError: (error: Error) => void): Endpoint {
  let opened: Promise<Opened> | undefined;
  const open = () => {
    opened ??= import("@modelcontextprotocol/server").then((library) => ({
      library,
      handler: library.createMcpHandler(({ authInfo }) => build(library, authInfo?.extra?.["caller"] as Caller), {
        onerror: onError,
        maxSubscriptions: SUBSCRIPTIONS,
      }),
      sessions: createSessions({ library, onError, build: async (caller) => build(library, caller) }),
    }));
    return opened;
  };
  return {
    async answer(request, caller) {
      const { library, handler, sessions } = await open();
      const authInfo = { token: "", clientId: caller.userId ?? caller.kind, scopes: [], extra: { caller } };
      if (request.headers.has(SESSION_HEADER)) return sessions.answer(request, caller, authInfo);
      const body = await initializeIn(library, request);
      return body === undefined ? handler.fetch(request, { authInfo }) : sessions.open(request, body, caller, authInfo);
    },
    async close() {
      const { handler, sessions } = (await opened) ?? {};
      await sessions?.close();
      await handler?.close();
    },
  };
}

/** The body of the older revision's `initialize`; undefined for any other request, whose body is left unread. */
async function initializeIn(library: typeof Library, request: Request): Promise<unknown> {
  const length = Number(request.headers.get("content-length") ?? Number.NaN);
  if (request.method !== "POST" || !(length <= INITIALIZE_BYTES)) return undefined;
  if (!library.isJsonContentType(request.headers.get("content-type"))) return undefined;
  const copy = request.clone();
  const body: unknown = await copy.json().catch(() => undefined);
  if (!library.isInitializeRequest(body)) return undefined;
  return (await library.isLegacyRequest(request, body)) ? body : undefined;
}
