/**
 * The client for the protocol's conformance suite. It connects as tool servers are connected, logs in if required,
 * lists the tools, and calls each with a fitting argument. The server's address is its last argument.
 */
import { type Connection, connectServer } from "../../adapter/mcp/client.ts";
import {
  beginLogin,
  type Credentials,
  finishLogin,
  type GivenClient,
  renewingProvider,
} from "../../adapter/mcp/oauth.ts";
import { isProblem } from "../../core/errors.ts";

const url = process.argv.at(-1)!;
/** The address that the suite accepts for this client's metadata document. */
const CLIENT_DOCUMENT = "https://conformance-test.local/client-metadata.json";
const LOGINS = 3;
const REDIRECT = "http://127.0.0.1:33418/callback";
const signal = AbortSignal.timeout(80_000);
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as {
  client_id?: string;
  client_secret?: string;
  issuer?: string;
  toolCalls?: { name: string; arguments: Record<string, unknown> }[];
};
const { client_id, client_secret, issuer } = context;
const given: GivenClient | undefined =
  client_id && issuer ? { client_id, issuer, ...(client_secret ? { client_secret } : {}) } : undefined;
const options = {
  answersDefaults: true,
  signal,
  timeoutMs: 60_000,
  maxMessageBytes: 4 << 20,
  maxNoiseBytes: 4 << 20,
  onToolsChanged() {},
  onLog: (_: string, text: string) => console.error(text),
};
/** What log-ins returned, and a scope that a call lacked. */
let kept: Credentials = {};
const connect = () =>
  connectServer(
    {
      transport: "http" as const,
      url,
      headers: {},
      fetch,
      ...(kept.tokens ? { auth: renewingProvider(kept, () => {}, given) } : {}),
      onScopeNeeded(scope) {
        kept.scope = [kept.scope, scope].filter(Boolean).join(" ");
      },
    },
    options,
  );

/** Logs in like a browser that agrees to everything. */
async function loggedIn(): Promise<Credentials> {
  const server = { url, fetch, redirectUri: REDIRECT, clientMetadataUrl: CLIENT_DOCUMENT, given };
  const started = await beginLogin(server, "state", kept.scope);
  const answer = await fetch(started.authorizationUrl, { redirect: "manual" });
  return finishLogin(server, started, new URL(answer.headers.get("location")!).searchParams);
}

const needsLogin = (error: unknown) => isProblem(error) && /^(authorization|scope)_needed$/.test(error.code ?? "");
let connection: Connection | undefined;
/** Logs in when asked, connects again and retries, but only a limited number of times. */
async function withLogins<T>(act: (connection: Connection) => Promise<T>): Promise<T> {
  for (let login = 0; ; login++) {
    try {
      connection ??= await connect();
      return await act(connection);
    } catch (error) {
      if (!needsLogin(error) || login === LOGINS) throw error;
      await connection?.close();
      connection = undefined;
      kept = await loggedIn();
    }
  }
}

type Listed = { name: string; inputSchema: { properties?: Record<string, { type?: string }> } };
const tools = (await withLogins((to) => to.listTools(signal))) as Listed[];
const sample = (type: string | undefined) =>
  type === "number" || type === "integer" ? 2 : type === "boolean" ? true : "text";
const argumentsOf = ({ inputSchema }: Listed) =>
  Object.fromEntries(Object.entries(inputSchema.properties ?? {}).map(([name, { type }]) => [name, sample(type)]));
const calls = context.toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: argumentsOf(tool) }));
for (const { name, arguments: args } of calls) {
  const tool = tools.find((one) => one.name === name);
  if (!tool) continue;
  await withLogins((to) => to.callTool(tool, args, { signal, timeoutMs: 60_000 }))
    .then(({ content }) => console.log(name, JSON.stringify(content).slice(0, 200)))
    .catch((error: Error) => console.error(name, error.message));
}
await connection?.close();
process.exit(0);
