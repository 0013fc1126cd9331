/**
 * A connection to the Docker engine that can be cut and restored, as if the engine stopped, or that refuses some
 * requests.
 */
import { rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { Transform } from "node:stream";

export interface DockerCut {
  /** Value for DOCKER_HOST. */
  address: string;
  cut(): Promise<void>;
  mend(): Promise<void>;
  /**
   * Answers requests whose first line matches with 500, as a failing engine does; null stops this. It applies from the
   * next request.
   */
  refuse(requests: RegExp | null): void;
  /** While held, requests get no answer, as from an engine that hangs. After that they continue. */
  hold(isHeld: boolean): void;
}

const REFUSAL = JSON.stringify({ message: "the engine fails" });
const REFUSED = `HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\nContent-Length: ${REFUSAL.length}\r\nConnection: close\r\n\r\n${REFUSAL}`;

/** Listens on a socket at that path and forwards everything to the engine's socket. */
export async function dockerCut(path: string, engineSocket = "/var/run/docker.sock"): Promise<DockerCut> {
  const open = new Set<Socket>();
  let server: Server | undefined;
  let refused: RegExp | null = null;
  let held: (() => void)[] | undefined;
  const mend = () =>
    new Promise<void>((resolve) => {
      rmSync(path, { force: true });
      server = createServer({ allowHalfOpen: true }, (near) => {
        const far = connect({ path: engineSocket, allowHalfOpen: true });
        for (const socket of [near, far]) {
          open.add(socket);
          socket.on("error", () => {});
          socket.on("close", () => open.delete(socket));
        }
        const gate = new Transform({
          transform(chunk: Buffer, _, pass) {
            const [line] = chunk.subarray(0, 512).toString("latin1").split("\r\n");
            if (held) return void held.push(() => pass(null, chunk));
            if (!refused?.test(line!)) return pass(null, chunk);
            near.end(REFUSED);
            far.destroy();
          },
        });
        near.pipe(gate).pipe(far);
        far.pipe(near);
      }).listen(path, resolve);
    });
  await mend();
  return {
    address: `unix://${path}`,
    mend,
    refuse: (requests) => {
      refused = requests;
    },
    hold: (isHeld) => {
      const waiting = held ?? [];
      held = isHeld ? waiting : undefined;
      if (!isHeld) for (const go of waiting) go();
    },
    cut: () =>
      new Promise((resolve) => {
        server?.close(() => resolve());
        for (const socket of open) socket.destroy();
        rmSync(path, { force: true });
      }),
  };
}
