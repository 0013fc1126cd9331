/** The protocol library's handler over HTTP, loaded when the first client comes. One server object a request. */
import type * as Library from "@modelcontextprotocol/server";
import type { Caller } from "../../http/caller.ts";

export type BuildServer = (
  library: typeof Library,
  caller: Caller,
) => Promise<Library.Server | Library.McpServer> | Library.Server | Library.McpServer;

export interface Endpoint {
  /** Answers a request of a caller who was let in. */
  answer(request: Request, caller: Caller): Promise<Response>;
  close(): Promise<void>;
}

/** Streams of subscriptions that are open at once. */
const SUBSCRIPTIONS = 64;

export function createEndpoint(build: BuildServer, onError: (error: Error) => void): Endpoint {
  let opened: Promise<{ library: typeof Library; handler: Library.McpHttpHandler }> | undefined;
  const open = () => {
    opened ??= import("@modelcontextprotocol/server").then((library) => ({
      library,
      handler: library.createMcpHandler(({ authInfo }) => build(library, authInfo?.extra?.["caller"] as Caller), {
        onerror: onError,
        maxSubscriptions: SUBSCRIPTIONS,
      }),
    }));
    return opened;
  };
  return {
    async answer(request, caller) {
      const { handler } = await open();
      const authInfo = { token: "", clientId: caller.userId ?? caller.kind, scopes: [], extra: { caller } };
      return handler.fetch(request, { authInfo });
    },
    async close() {
      await (await opened)?.handler.close();
    },
  };
}
