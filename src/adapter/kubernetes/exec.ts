/**
 * Runs a command in a container of a Pod, over a WebSocket. The protocol `v5.channel.k8s.io` can close the command's
 * input. `v4.channel.k8s.io`, of clusters before 1.30, cannot: there the command must know where its input ends.
 */
import { listIn, textIn } from "../../core/is-object.ts";
import { readMembers } from "../../core/json-reader.ts";
import { type ClusterClient, urlOf } from "./client.ts";
import { asProblem } from "./failures.ts";
import { openWebSocket } from "./web-socket.ts";

export const EXEC_PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"] as const;
const CHANNELS = { stdin: 0, stdout: 1, stderr: 2, status: 3, close: 255 } as const;
/** Most bytes of input in one message. */
const PIECE_BYTES = 32 * 1024;
const MAX_STATUS_CHARACTERS = 64 * 1024;

export interface PodExecRequest {
  namespace: string;
  pod: string;
  container: string;
  /** The command. It is part of the request's address, which API servers log, so it must not contain secrets. */
  argv: readonly string[];
  hasInput: boolean;
  onOutput(stream: "stdout" | "stderr", chunk: Uint8Array): void;
  signal?: AbortSignal | undefined;
}

export type PodExec = Awaited<ReturnType<typeof execInPod>>;

/** Starts the command. @throws Problem when the Pod is gone, may not be entered, or the API server does not answer. */
export async function execInPod(client: ClusterClient, request: PodExecRequest) {
  const { access } = client;
  const { namespace, pod, container, argv, hasInput, onOutput } = request;
  const url = urlOf(access.server, `/api/v1/namespaces/${namespace}/pods/${pod}/exec`, {
    container,
    command: argv,
    stdin: String(hasInput),
    stdout: "true",
    stderr: "true",
    tty: "false",
  });
  let status = "";
  const onMessage = (data: Buffer) => {
    const [channel, bytes] = [data[0], data.subarray(1)];
    if (channel === CHANNELS.stdout) onOutput("stdout", bytes);
    else if (channel === CHANNELS.stderr) onOutput("stderr", bytes);
    else if (channel === CHANNELS.status) {
      status += bytes.toString("utf8");
      if (status.length > MAX_STATUS_CHARACTERS) throw new Error("its status is too long");
    }
  };
  try {
    const socket = await openWebSocket({
      url,
      tls: access.tls,
      authorization: access.authorization(),
      protocols: EXEC_PROTOCOLS,
      onMessage,
      signal: request.signal,
    });
    const handleEnd = (error: unknown) => {
      // Some servers drop the connection after they have sent the exit status, which is no error.
      if (status === "") throw asProblem(error, access.address);
    };
    const closed = socket.closed.catch(handleEnd);
    closed.catch(() => {});
    return {
      /**
       * Resolves when the command has ended and all its output has arrived; rejects with a Problem when the connection
       * broke.
       */
      closed,
      /** The exit code, once `closed` has resolved; null when the API server did not tell it. */
      exitCode: (): number | null => exitCodeIn(status),
      /** Writes to the command's input. Resolves once there is room for more. */
      async write(bytes: Uint8Array): Promise<void> {
        for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
          const piece = bytes.subarray(at, at + PIECE_BYTES);
          const message = Buffer.allocUnsafe(piece.length + 1);
          message[0] = CHANNELS.stdin;
          message.set(piece, 1);
          await socket.send(message);
        }
      },
      /** Closes the command's input, if the protocol supports that. */
      async endInput(): Promise<void> {
        if (socket.protocol === EXEC_PROTOCOLS[0]) await socket.send(Buffer.from([CHANNELS.close, CHANNELS.stdin]));
      },
      pause: socket.pause,
      resume: socket.resume,
      /** Breaks off the connection; the command may continue. */
      detach: socket.destroy,
    };
  } catch (error) {
    request.signal?.throwIfAborted();
    throw asProblem(error, access.address);
  }
}

/** Exit code in a `Status`: 0 for success, else the code among the causes of the failure. */
function exitCodeIn(text: string): number | null {
  const status = readMembers(text);
  if (textIn(status, "status") === "Success") return 0;
  const cause = listIn(status["details"], "causes").find((one) => textIn(one, "reason") === "ExitCode");
  const code = textIn(cause, "message");
  return code !== undefined && /^\d{1,3}$/.test(code) ? Number(code) : null;
}
