/**
 * The protocol library's HTTP handler, loaded when the first client comes. A client of the older protocol revision that
 * initializes gets a session. Any other request gets a server object of its own.
 */
import type * as Library from "@modelcontextprotocol/server";
import type { Caller } from "../../http/caller.ts";
import { createSessions, SESSION_HEADER, type Sessions } from "./sessions.ts";

type BuildServer = (
  library: typeof Library,
  caller: Caller,
) => Promise<Library.Server | Library.McpServer> | Library.Server | Library.McpServer;

export type Endpoint = ReturnType<typeof createEndpoint>;

/** The caller of a request. The library passes it on as the `extra` that `answer` sets. */
const callerIn = (info: Library.AuthInfo | undefined) => info?.extra?.["caller"] as Caller | undefined;

/** The caller of this request; its rights may have changed since its session was opened. */
export const callerOf = (ctx: Library.ServerContext, opened: Caller): Caller => callerIn(ctx.http?.authInfo) ?? opened;

interface Opened {
  library: typeof Library;
  handler: Library.McpHttpHandler;
  sessions: Sessions;
}

/** Most streams of subscriptions that are open at once. */
const SUBSCRIPTIONS = 64;

export function createEndpoint(build: BuildServer, onError: (error: Error) => void) {
  let opened: Promise<Opened> | undefined;
  const open = () => {
    opened ??= import("@modelcontextprotocol/server").then((library) => ({
      library,
      handler: library.createMcpHandler(({ authInfo }) => build(library, callerIn(authInfo)!), {
        onerror: onError,
        maxSubscriptions: SUBSCRIPTIONS,
      }),
      sessions: createSessions({ library, onError, build: async (caller) => build(library, caller) }),
    }));
    return opened;
  };
  return {
    /**
     * Answers a request of a caller who was let in.
     * @param parsedBody the request's JSON from the route's parser, which limits its nesting. The library serializes
     * parts of it again, which would take seconds for a body of deeply nested brackets.
     */
    async answer(request: Request, caller: Caller, parsedBody?: unknown): Promise<Response> {
      const { library, handler, sessions } = await open();
      const authInfo = { token: "", clientId: caller.userId ?? caller.kind, scopes: [], extra: { caller } };
      if (request.headers.has(SESSION_HEADER)) return sessions.answer(request, parsedBody, caller, authInfo);
      if (library.isInitializeRequest(parsedBody) && (await library.isLegacyRequest(request, parsedBody)))
        return sessions.open(request, parsedBody, caller, authInfo);
      return handler.fetch(request, { authInfo, parsedBody });
    },
    async close(): Promise<void> {
      const { handler, sessions } = (await opened) ?? {};
      await sessions?.close();
      await handler?.close();
    },
  };
}
