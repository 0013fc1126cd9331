/**
 * The protocol library's handler over HTTP, loaded when the first client comes. A request of the newer revision, or of
 * an older client without a session, gets a server object of its own; an older client that initializes gets a session.
 */
import type * as Library from "@modelcontextprotocol/server";
import type { Caller } from "../../http/caller.ts";
import { createSessions, SESSION_HEADER, type Sessions } from "./sessions.ts";

type BuildServer = (
  library: typeof Library,
  caller: Caller,
) => Promise<Library.Server | Library.McpServer> | Library.Server | Library.McpServer;

export type Endpoint = ReturnType<typeof createEndpoint>;

/** The library carries the caller with a request, as `extra` of what `answer` gives it. */
const callerIn = (info: Library.AuthInfo | undefined) => info?.extra?.["caller"] as Caller | undefined;

/** The caller of this request; its rights may have changed since its session was opened. */
export const callerOf = (ctx: Library.ServerContext, opened: Caller): Caller => callerIn(ctx.http?.authInfo) ?? opened;

interface Opened {
  library: typeof Library;
  handler: Library.McpHttpHandler;
  sessions: Sessions;
}

/** Streams of subscriptions that are open at once. */
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
     * @param body the request's JSON as the route's parser read it, which bounds how deep it is nested: the library writes
     * parts of it again, which takes seconds for a body of brackets.
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
