/** Waits for a state of a tool server over the API: by events, not by polling. */
import type { McpServer } from "../../feature/mcp/model.ts";
import { framesOf } from "../event-reader.ts";
import type { TestServer } from "../server.ts";

/** Resolves with the server once it fits. Its state is read again at each of its events. */
export async function mcpServerWhen(
  server: TestServer,
  id: string,
  fits: (state: McpServer) => boolean,
  token?: string,
): Promise<McpServer> {
  const frames = framesOf(server, "/v1/events/stream?kinds=mcp_server_changed&after=0", token);
  const read = async () =>
    (await server.request<McpServer>("GET", `/v1/mcp/${id}`, token === undefined ? {} : { token })).body;
  let state = await read();
  if (fits(state)) return state;
  for await (const _ of frames) {
    state = await read();
    if (fits(state)) return state;
  }
  throw new Error(`the stream ended; the server's state is ${JSON.stringify(state)}`);
}
