/**
 * A connection to one tool server over whichever transport, in either revision of the protocol: its list of tools and
 * calls of them. It has no policy: callers judge what is listed.
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
      /** A call needs a scope that the token lacks: the next login should ask for it. */
      onScopeNeeded?(scope: string): void;
    };

interface ConnectOptions {
  /** Of one request, unless it says otherwise. */
  timeoutMs: number;
  maxMessageBytes: number;
  maxNoiseBytes: number;
  /** Ask no question that an older server might not survive. */
  legacyOnly?: boolean;
  signal: AbortSignal;
  onLog(stream: "stdout" | "stderr" | "skep", text: string): void;
  /** A form that the server asks for in the middle of a call is filled with its own defaults, else nothing is answered. */
  answersDefaults?: boolean;
  /** The server says that its tools have changed. */
  onToolsChanged(): void;
}

export interface CallOptions {
  signal: AbortSignal;
  timeoutMs: number;
  onProgress?(text: string): void;
}

export interface Connection {
  /** E.g. `2025-11-25`. */
  readonly revision: string;
  readonly server: { name: string; version: string } | undefined;
  /** Resolves with why, in words, when it is over. */
  readonly ended: Promise<string>;
  /** Everything that it lists, unchecked, page by page. */
  listTools(signal: AbortSignal): Promise<unknown[]>;
  /**
   * @param definition as listed: some arguments go into headers by it.
   * @throws Problem 502 `mcp_call_refused` by the server, 502 `mcp_call_failed` on the way to it, 502 `mcp_bad_answer`, 504 `mcp_timeout`,
   * 401 `authorization_needed`, 403 `scope_needed`.
   */
  callTool(
    definition: { name: string; inputSchema: object },
    args: Record<string, unknown>,
    options: CallOptions,
  ): Promise<Library.CallToolResult>;
  close(): Promise<void>;
}

/** The server wants somebody to log in first. */
const authorizationNeeded = () =>
  new Problem(401, "authorization_needed", "Somebody has to log in to it first: skep mcp authorize SERVER");

const scopeNeeded = (tool: string) =>
  new Problem(
    403,
    "scope_needed",
    `${tool} needs wider rights than the last login gave. An administrator logs in again: skep mcp authorize SERVER`,
  );

/** A server on a pipe that says nothing to the first question speaks an older revision; one on the network is slow. */
const PROBE_MS = 2_000;
const PAGES = 64;
const TOOLS = 2_000;
const SHOWN_CHARACTERS = 500;
const LOGGED_CHARACTERS = 2_000;

/** @throws Problem 401 `authorization_needed`, 502 `mcp_not_connected` with what is wrong. */
export async function connectServer(target: Target, options: ConnectOptions): Promise<Connection> {
  const library = await import("@modelcontextprotocol/client");
  const { timeoutMs, signal } = options;
  const legacy = options.legacyOnly === true || target.transport === "sse";
  const isPipe = target.transport === "stdio";
  const client = new library.Client(
    { name: "skep", title: "Skep", version: BUILD.version },
    {
      // What is not offered (to sample, to list roots, to ask people) is not asked for.
      capabilities: options.answersDefaults ? { elicitation: { form: { applyDefaults: true } } } : {},
      versionNegotiation: legacy
        ? { mode: "legacy" }
        : { mode: "auto", probe: { timeoutMs: isPipe ? Math.min(PROBE_MS, timeoutMs) : timeoutMs } },
      listChanged: { tools: { autoRefresh: false, onChanged: () => options.onToolsChanged() } },
      // What a server says of its own output is not checked here: its patterns would run on this thread.
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
    // The older transport opens its stream again by itself, but the server's session is gone.
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

/** Accepts a form whose required fields all have defaults; the library fills them in. Anything else is declined. */
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
 * Tools may ask for arguments in headers. One that asks for what no header can hold must not be called; the library
 * knows which those are, but gives up a whole list for one malformed tool.
 */
async function withUsableHeaders(
  client: Library.Client,
  tools: unknown[],
  timeout: number,
  signal: AbortSignal,
): Promise<unknown[]> {
  const asks = (tool: unknown) => JSON.stringify(tool)?.includes('"x-mcp-header"') === true;
  if (!tools.some(asks)) return tools;
  const usable = await client.listTools({}, { timeout, signal, cacheMode: "refresh" }).then(
    (list) => new Set<unknown>(list.tools.map(({ name }) => name)),
    () => new Set<unknown>(),
  );
  return tools.filter((tool) => !asks(tool) || usable.has(membersOf(tool)["name"]));
}

/** A call that reports progress may take this many times as long. */
const PROGRESS_STRETCH = 30;

/** The library's name for its first question, which says nothing to who reads why a server cannot be reached. */
const PROBE_WORDS: readonly [theirs: string, ours: string][] = [
  ["Version negotiation probe failed: ", ""],
  ["Version negotiation probe timed out after", "It gave no answer within"],
];

function notConnected(why: string): Problem {
  const words = PROBE_WORDS.reduce((text, [theirs, ours]) => text.replace(theirs, ours), why);
  return new Problem(502, "mcp_not_connected", words.slice(0, SHOWN_CHARACTERS));
}

/** The way to a server of the network is cut: what was asked for may have been done. */
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
  // The answer came, so the server is there for other calls. What the library says of it is for its administrator.
  if (code === library.SdkErrorCode.InvalidResult) {
    onLog("skep", messageOf(error).slice(0, LOGGED_CHARACTERS));
    const what = `${tool} gave an answer that the protocol does not allow; it was dropped.`;
    return new Problem(502, "mcp_bad_answer", `${what} The server's log says what is wrong with it.`);
  }
  // The server itself says no, or the way to it is cut.
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

/** Any list with any cursor: a single malformed tool must not cost all the others. */
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
