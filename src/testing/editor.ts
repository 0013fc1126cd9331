/** An editor for tests: the protocol library's client over the pipes of `skep acp`. */
import {
  type ClientConnection,
  client,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { skepCommand } from "./server.ts";

export interface TestEditor {
  agent: ClientConnection["agent"];
  /** The updates for that session, in order. */
  updates(sessionId: string): SessionUpdate[];
  /** The session's text of one kind, joined. */
  readText(sessionId: string, kind?: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk"): string;
  /** Resolves when the session's updates fulfill the condition. */
  until(sessionId: string, is: (updates: SessionUpdate[]) => boolean): Promise<void>;
  /** Writes to the agent's standard input, outside of the protocol. */
  write(text: string): void;
  /** Closes the agent's standard input. @returns its exit code and standard error. */
  close(): Promise<{ code: number; stderr: string }>;
  kill(): Promise<void>;
}

export interface EditorOptions {
  args: string[];
  env?: Record<string, string>;
  onPermission?(request: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionResponse>;
}

export async function openEditor({ args, env = {}, onPermission }: EditorOptions): Promise<TestEditor> {
  const child = Bun.spawn(skepCommand("acp", ...args), {
    env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", XDG_STATE_HOME: "/dev/null", ...env },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const stderr = new Response(child.stderr).text();
  const came = new Map<string, SessionUpdate[]>();
  const of = (id: string) => came.get(id) ?? [];
  const waiting = new Set<() => void>();
  const toChild = new WritableStream<Uint8Array>({
    write(chunk) {
      child.stdin.write(chunk);
      child.stdin.flush();
    },
  });
  const connection = client({ name: "test-editor" })
    .onNotification("session/update", ({ params: { sessionId, update } }) => {
      came.set(sessionId, [...of(sessionId), update]);
      for (const look of waiting) look();
    })
    .onRequest("session/request_permission", ({ params, signal }) =>
      onPermission ? onPermission(params, signal) : { outcome: { outcome: "cancelled" } },
    )
    .connect(ndJsonStream(toChild, child.stdout));
  await connection.agent.request("initialize", {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  });
  return {
    agent: connection.agent,
    updates: of,
    readText: (id, kind = "agent_message_chunk") =>
      of(id)
        .map((one) => (one.sessionUpdate === kind && one.content.type === "text" ? one.content.text : ""))
        .join(""),
    until: (id, is) =>
      new Promise((done) => {
        const look = () => {
          if (!is(of(id))) return;
          waiting.delete(look);
          done();
        };
        waiting.add(look);
        look();
      }),
    write(text) {
      child.stdin.write(text);
      child.stdin.flush();
    },
    async close() {
      child.stdin.end();
      return { code: await child.exited, stderr: await stderr };
    },
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}
