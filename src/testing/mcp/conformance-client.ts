/**
 * The client that the protocol's conformance suite drives: connects as tool servers are connected, logs in where that is
 * asked, lists the tools and calls each with an argument that fits. The address is its last argument.
 */
import { connectServer } from "../../adapter/mcp/client.ts";
import { beginLogin, type Credentials, finishLogin, renewingProvider } from "../../adapter/mcp/oauth.ts";
import { isProblem } from "../../core/errors.ts";

const url = process.argv.at(-1)!;
const REDIRECT = "http://127.0.0.1:33418/callback";
const signal = AbortSignal.timeout(20_000);
const options = {
  ...{ signal, timeoutMs: 10_000, maxMessageBytes: 4 << 20, maxNoiseBytes: 4 << 20, onToolsChanged() {} },
  onLog: (_: string, text: string) => console.error(text),
};
const connect = (kept?: Credentials) =>
  connectServer(
    { transport: "http", url, headers: {}, fetch, ...(kept ? { auth: renewingProvider(kept, () => {}) } : {}) },
    options,
  );

/** A browser that agrees to everything. */
async function loggedIn(): Promise<Credentials> {
  const server = { url, fetch, redirectUri: REDIRECT };
  const begun = await beginLogin(server, "state");
  const answer = await fetch(begun.authorizationUrl, { redirect: "manual" });
  return finishLogin(server, begun, new URL(answer.headers.get("location")!).searchParams);
}

const needsLogin = (error: unknown) => isProblem(error) && error.code === "authorization_needed";
const connection = await connect().catch(async (error) => {
  if (!needsLogin(error)) throw error;
  return connect(await loggedIn());
});
const tools = (await connection.listTools(signal)) as {
  name: string;
  inputSchema: { properties?: Record<string, { type?: string }> };
}[];
const sample = (type: string | undefined) =>
  type === "number" || type === "integer" ? 2 : type === "boolean" ? true : "text";
for (const tool of tools) {
  const args = Object.fromEntries(
    Object.entries(tool.inputSchema.properties ?? {}).map(([name, { type }]) => [name, sample(type)]),
  );
  await connection
    .callTool(tool, args, { signal, timeoutMs: 10_000 })
    .then(({ content }) => console.log(tool.name, JSON.stringify(content).slice(0, 200)))
    .catch((error: Error) => console.error(tool.name, error.message));
}
await connection.close();
process.exit(0);
