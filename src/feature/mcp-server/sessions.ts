/**
 * Sessions for clients of the revision 2025-11-25: in a session, a client can be asked something while its call runs.
 * Each session has its own server object and belongs to the credential that opened it. Sessions live in memory; a
 * client whose session is gone gets 404 and opens another, as the protocol says.
 */
import { randomUUID } from "node:crypto";
import type * as Library from "@modelcontextprotocol/server";
import type { Caller } from "../../http/caller.ts";

type Built = Library.Server | Library.McpServer;

interface SessionsOptions {
  library: typeof Library;
  build(caller: Caller): Promise<Built>;
  onError(error: Error): void;
  /** Monotonic, ms. */
  now?: () => number;
  maxPerOwner?: number;
}

export type Sessions = ReturnType<typeof createSessions>;

interface Session {
  owner: string;
  transport: Library.WebStandardStreamableHTTPServerTransport;
  server: Built;
  usedAt: number;
}

export const SESSION_HEADER = "mcp-session-id";
const MAX_SESSIONS = 512;
const MAX_PER_OWNER = 32;
/** A session that is idle for longer is ended when another one is opened. */
const IDLE_MS = 30 * 60_000;

const ownerOf = ({ kind, userId, apiKeyId, sessionId }: Caller): string =>
  [kind, userId, apiKeyId, sessionId].join("\0");

export function createSessions({ library, build, onError, ...options }: SessionsOptions) {
  const now = options.now ?? (() => performance.now());
  const maxPerOwner = options.maxPerOwner ?? MAX_PER_OWNER;
  /** Sessions by id, the least recently used first. */
  const sessions = new Map<string, Session>();

  const end = (id: string): void => {
    const session = sessions.get(id);
    sessions.delete(id);
    session?.server.close().catch(onError);
  };
  /**
   * Makes room for one more session of this owner: ends idle sessions, and the least recently used ones above the
   * limits.
   */
  const sweep = (owner: string): void => {
    for (const [id, { usedAt }] of sessions) if (now() - usedAt > IDLE_MS) end(id);
    const own = [...sessions].filter(([, session]) => session.owner === owner).map(([id]) => id);
    for (const id of own.slice(0, Math.max(0, own.length - maxPerOwner + 1))) end(id);
    for (const id of [...sessions.keys()].slice(0, Math.max(0, sessions.size - MAX_SESSIONS + 1))) end(id);
  };

  return {
    /** Answers `initialize` and opens the session. */
    async open(request: Request, parsedBody: unknown, caller: Caller, authInfo: Library.AuthInfo): Promise<Response> {
      const owner = ownerOf(caller);
      sweep(owner);
      const server = await build(caller);
      let opened: string | undefined;
      const transport = new library.WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized(id) {
          opened = id;
          sessions.set(id, { owner, transport, server, usedAt: now() });
        },
        onsessionclosed: (id) => void sessions.delete(id),
      });
      await server.connect(transport);
      const response = await transport.handleRequest(request, { authInfo, parsedBody });
      // The request was refused, so no session exists that would close the server later.
      if (opened === undefined) await server.close().catch(onError);
      return response;
    },
    /** Answers a request that names a session: 404 when this caller has no such session. */
    async answer(request: Request, parsedBody: unknown, caller: Caller, authInfo: Library.AuthInfo): Promise<Response> {
      const id = request.headers.get(SESSION_HEADER) ?? "";
      const session = sessions.get(id);
      if (session?.owner !== ownerOf(caller)) return noSession();
      sessions.delete(id);
      sessions.set(id, session);
      session.usedAt = now();
      const response = await session.transport.handleRequest(request, { authInfo, parsedBody });
      if (request.method === "DELETE" && response.ok) await session.server.close().catch(onError);
      return response;
    },
    count: (): number => sessions.size,
    async close(): Promise<void> {
      const all = [...sessions.values()];
      sessions.clear();
      await Promise.all(all.map(({ server }) => server.close().catch(onError)));
    },
  };
}

const noSession = (): Response =>
  Response.json(
    { jsonrpc: "2.0", id: null, error: { code: -32_001, message: "There is no such session. Initialize a new one." } },
    { status: 404 },
  );
