/**
 * A connection to one tool server over any transport, in either revision of the protocol: lists its tools and calls
 * them. It applies no policy: callers judge the listed tools.
 */

import type * as Library from "@modelcontextprotocol/client";
import { isProblem, messageOf, Problem } from "../../core/errors.ts";
import { membersOf } from "../../core/is-object.ts";
import type { OpenPipe } from "../../core/pipe.ts";
import { BUILD } from "../../core/version.ts";
import type { HttpFetch } from "./http-fetch.ts";
import { createLineTransport } from "./line-transport.ts";

export type Target =
  | { transport: "stdio"; open: OpenPipe }
  | {
      transport: "http" | "sse";
      url: string;
      headers: Readonly<Record<string, string>>;
      fetch: HttpFetch;
      auth?: Library.OAuthClientProvider;
      /** Called when a call needs a scope that the token lacks. The next login should ask for it. */
      onScopeNeeded?(scope: string): void;
    };

interface ConnectOptions {
  /** Time limit of a request that does not set its own. */
  timeoutMs: number;
  maxMessageBytes: number;
  maxNoiseBytes: number;
  /** Whether to skip the version probe, which an older server might not survive. */
  legacyOnly?: boolean;
  signal: AbortSignal;
  onLog(stream: "stdout" | "stderr" | "skep", text: string): void;
  /**
   * Whether to answer a form that the server sends during a call with the form's own defaults. Otherwise forms are not
   * supported.
   */
  answersDefaults?: boolean;
  /** Called when the server says that its tools have changed. */
  onToolsChanged(): void;
}

export interface CallOptions {
  signal: AbortSignal;
  timeoutMs: number;
  onProgress?(text: string): void;
}

export interface Connection {
  /** Protocol revision, e.g. `2025-11-25`. */
  readonly revision: string;
  readonly server: { name: string; version: string } | undefined;
  /** Resolves when the connection has ended, with the reason in words. */
  readonly ended: Promise<string>;
  /** Lists all tools page by page, unchecked. */
  listTools(signal: AbortSignal): Promise<unknown[]>;
  /**
   * @param definition the tool as listed: it says which arguments go into headers.
   * @throws Problem 502 `mcp_call_refused` by the server, 502 `mcp_call_failed` when the connection fails, 502
   * `mcp_bad_answer`, 504 `mcp_timeout`, 401 `authorization_needed`, 403 `scope_needed`.
   */
  callTool(
    definition: { name: string; inputSchema: object },
    args: Record<string, unknown>,
    options: CallOptions,
  ): Promise<Library.CallToolResult>;
  close(): Promise<void>;
}

/** The server requires a login before it answers. */
const authorizationNeeded = () =>
  new Problem(401, "authorization_needed", "Somebody has to log in to it first: skep mcp authorize SERVER");

const scopeNeeded = (tool: string) =>
  new Problem(
    403,
    "scope_needed",
    `${tool} needs wider rights than the last login gave. An administrator logs in again: skep mcp authorize SERVER`,
  );

/**
 * Time limit of the version probe on a pipe. A server there that does not answer it speaks an older revision; one on
 * the network may be slow.
 */
const PROBE_MS = 2_000;
const PAGES = 64;
const TOOLS = 2_000;
const SHOWN_CHARACTERS = 500;
const LOGGED_CHARACTERS = 2_000;

/** Connects to a server. @throws Problem 401 `authorization_needed`, 502 `mcp_not_connected` with the reason. */
export async function connectServer(target: Target, options: ConnectOptions): Promise<Connection> {
  const library = await import("@modelcontextprotocol/client");
  const { timeoutMs, signal } = options;
  const legacy = options.legacyOnly === true || target.transport === "sse";
  const isPipe = target.transport === "stdio";
  const client = new library.Client(
    { name: "skep", title: "Skep", version: BUILD.version },
    {
      // A server must not ask for what the client does not offer: sampling, roots, questions to people.
      capabilities: options.answersDefaults ? { elicitation: { form: { applyDefaults: true } } } : {},
      versionNegotiation: legacy
        ? { mode: "legacy" }
        : { mode: "auto", probe: { timeoutMs: isPipe ? Math.min(PROBE_MS, timeoutMs) : timeoutMs } },
      listChanged: { tools: { autoRefresh: false, onChanged: () => options.onToolsChanged() } },
      // Output is not checked against the server's own schema, because that schema's patterns would run on this thread.
      jsonSchemaValidator: {
        getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
      },
    },
  );
  const { transport, endReason } = transportOf(library, target, options);
  let over!: (reason: string) => void;
  const ended = new Promise<string>((resolve) => {
    over = resolve;
  });
  client.onclose = () => over(endReason() ?? "it was stopped");
  if (options.answersDefaults) answerDefaults(client, options.onLog);
  client.onerror = (error) => {
    options.onLog("skep", messageOf(error).slice(0, SHOWN_CHARACTERS));
    // The older transport (SSE) reopens its stream by itself, but the server's session is gone.
    if (!(error instanceof library.SseError)) return;
    over("its stream ended");
    void transport.close().catch(() => {});
  };
  try {
    await client.connect(transport, { timeout: timeoutMs, signal });
  } catch (error) {
    await client.close().catch(() => {});
    await transport.close().catch(() => {});
    signal.throwIfAborted();
    if (error instanceof library.UnauthorizedError || isUnauthorized(error)) throw authorizationNeeded();
    const wasProbed = !legacy && target.transport === "stdio" && endReason() !== undefined;
    if (wasProbed && !(error instanceof Problem)) return connectServer(target, { ...options, legacyOnly: true });
    throw error instanceof Problem ? error : notConnected(endReason() ?? messageOf(error));
  }
  return {
    revision: client.getNegotiatedProtocolVersion() ?? "",
    server: client.getServerVersion(),
    ended,
    async listTools(listSignal) {
      const tools = await listTools(client, timeoutMs, listSignal).catch((error) => {
        throw error instanceof library.UnauthorizedError || isUnauthorized(error) ? authorizationNeeded() : error;
      });
      const isModernWeb = target.transport === "http" && client.getProtocolEra() === "modern";
      return isModernWeb ? withUsableHeaders(client, tools, timeoutMs, listSignal) : tools;
    },
    async callTool(definition, args, call) {
      try {
        return await client.callTool(
          { name: definition.name, arguments: args },
          {
            signal: call.signal,
            timeout: call.timeoutMs,
            resetTimeoutOnProgress: true,
            maxTotalTimeout: call.timeoutMs * PROGRESS_STRETCH,
            toolDefinition: { name: definition.name, inputSchema: { ...definition.inputSchema, type: "object" } },
            ...(call.onProgress ? { onprogress: ({ message }) => message && call.onProgress?.(`${message}\n`) } : {}),
          },
        );
      } catch (error) {
        call.signal.throwIfAborted();
        if (isProblem(error)) throw error;
        if (error instanceof library.InsufficientScopeError) {
          if (target.transport !== "stdio" && error.requiredScope) target.onScopeNeeded?.(error.requiredScope);
          throw scopeNeeded(definition.name);
        }
        throw callProblem(library, error, definition.name, call.timeoutMs, options.onLog);
      }
    },
    async close() {
      await client.close().catch(() => {});
      await transport.close().catch(() => {});
    },
  };
}

/**
 * Accepts a form whose required fields all have defaults, which the library then fills in. Any other form is declined.
 */
function answerDefaults(client: Library.Client, onLog: ConnectOptions["onLog"]): void {
  client.setRequestHandler("elicitation/create", ({ params }) => {
    const form = params.mode === "url" ? undefined : params.requestedSchema;
    const properties: Record<string, { default?: unknown }> = form?.properties ?? {};
    const isAnswered =
      form !== undefined && (form.required ?? []).every((name) => properties[name]?.default !== undefined);
    const how = isAnswered ? "accepted with its defaults" : "declined: it cannot be answered by its defaults";
    onLog("skep", `It asked "${params.message.slice(0, SHOWN_CHARACTERS)}", which was ${how}.`);
    return isAnswered ? { action: "accept", content: {} } : { action: "decline" };
  });
}

/**
 * Removes tools whose arguments cannot be sent in headers as the tool asks. The library knows which tools those are,
 * but rejects a whole list because of one malformed tool. So its verdict is only used for tools that ask for headers.
 */
async function withUsableHeaders(
  client: Library.Client,
  tools: unknown[],
  timeout: number,
  signal: AbortSignal,
): Promise<unknown[]> {
  const hasHeader = (tool: unknown) => JSON.stringify(tool)?.includes('"x-mcp-header"') === true;
  if (!tools.some(hasHeader)) return tools;
  const usable = await client.listTools({}, { timeout, signal, cacheMode: "refresh" }).then(
    (list) => new Set<unknown>(list.tools.map(({ name }) => name)),
    () => new Set<unknown>(),
  );
  return tools.filter((tool) => !hasHeader(tool) || usable.has(membersOf(tool)["name"]));
}

/** A call that reports progress may take this many times its time limit. */
const PROGRESS_STRETCH = 30;

/**
 * The library's wording about its version probe, which means nothing to a person who reads why a server cannot be
 * reached.
 */
const PROBE_WORDS: readonly [theirs: string, ours: string][] = [
  ["Version negotiation probe failed: ", ""],
  ["Version negotiation probe timed out after", "It gave no answer within"],
];

function notConnected(why: string): Problem {
  const words = PROBE_WORDS.reduce((text, [theirs, ours]) => text.replace(theirs, ours), why);
  return new Problem(502, "mcp_not_connected", words.slice(0, SHOWN_CHARACTERS));
}

/** Matches errors of a cut network connection. The call may already have had its effect. */
const CUT = /hang up|ECONN|EPIPE/;

const isUnauthorized = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "status" in error && error.status === 401;

function callProblem(
  library: typeof Library,
  error: unknown,
  tool: string,
  timeoutMs: number,
  onLog: ConnectOptions["onLog"],
): Problem {
  const code = error instanceof library.SdkError ? error.code : undefined;
  if (code === library.SdkErrorCode.RequestTimeout)
    return new Problem(504, "mcp_timeout", `${tool} gave no answer within ${timeoutMs / 1_000} s.`);
  // The answer arrived, so the server is available for other calls. The library's description of the fault is for the
  // server's administrator.
  if (code === library.SdkErrorCode.InvalidResult) {
    onLog("skep", messageOf(error).slice(0, LOGGED_CHARACTERS));
    const what = `${tool} gave an answer that the protocol does not allow; it was dropped.`;
    return new Problem(502, "mcp_bad_answer", `${what} The server's log says what is wrong with it.`);
  }
  // Either the server itself refuses, or the connection to it was cut.
  const isRefusal = error instanceof library.ProtocolError;
  const why = messageOf(error);
  if (!isRefusal && CUT.test(why)) {
    const what = `The tool server broke off in the middle of ${tool} (${why.slice(0, SHOWN_CHARACTERS)}).`;
    return new Problem(502, "mcp_call_failed", `${what} It may have happened in part; look before you repeat it.`);
  }
  const kind = isRefusal ? "mcp_call_refused" : "mcp_call_failed";
  return new Problem(502, kind, why.slice(0, SHOWN_CHARACTERS));
}

function transportOf(library: typeof Library, target: Target, options: ConnectOptions) {
  if (target.transport === "stdio") {
    const { signal, onLog, maxMessageBytes: maxLineBytes, maxNoiseBytes } = options;
    const transport = createLineTransport({ open: target.open, signal, onLog, maxLineBytes, maxNoiseBytes });
    return { transport, endReason: () => transport.endReason };
  }
  const { url, headers, fetch, auth } = target;
  const onInsufficientScope = "throw" as const;
  const given = { fetch, requestInit: { headers }, onInsufficientScope, ...(auth ? { authProvider: auth } : {}) };
  const transport: Library.Transport =
    target.transport === "sse"
      ? new library.SSEClientTransport(new URL(url), given)
      : new library.StreamableHTTPClientTransport(new URL(url), given);
  return { transport, endReason: () => undefined };
}

interface ToolPage {
  tools: unknown[];
  nextCursor?: string;
}

/** Accepts any list with any cursor, so that one malformed tool does not cost all the others. */
const TOOL_PAGE: Library.StandardSchemaV1<unknown, ToolPage> = {
  "~standard": {
    version: 1,
    vendor: "skep",
    validate(value) {
      const { tools, nextCursor } = membersOf(value);
      if (!Array.isArray(tools)) return { issues: [{ message: "The server's answer has no list of tools." }] };
      return { value: { tools, ...(typeof nextCursor === "string" ? { nextCursor } : {}) } };
    },
  },
};

async function listTools(client: Library.Client, timeoutMs: number, signal: AbortSignal): Promise<unknown[]> {
  if (!client.getServerCapabilities()?.tools) return [];
  const tools: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method: "tools/list", params }, TOOL_PAGE, { timeout: timeoutMs, signal });
    tools.push(...answer.tools.slice(0, TOOLS - tools.length));
    if (answer.nextCursor === undefined || answer.nextCursor === cursor || tools.length >= TOOLS) return tools;
    cursor = answer.nextCursor;
  }
  return tools;
}
