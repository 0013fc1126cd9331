/** A way to the Docker engine that can be cut, as when the engine is stopped, and restored. */
import { rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";

export interface DockerCut {
  /** For DOCKER_HOST. */
  address: string;
  cut(): Promise<void>;
  mend(): Promise<void>;
}

/** Listens on a socket at that path and passes everything on to the engine's. */
export async function dockerCut(path: string, engineSocket = "/var/run/docker.sock"): Promise<DockerCut> {
  const open = new Set<Socket>();
  let server: Server | undefined;
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
        near.pipe(far);
        far.pipe(near);
      }).listen(path, resolve);
    });
  await mend();
  return {
    address: `unix://${path}`,
    mend,
    cut: () =>
      new Promise((resolve) => {
        server?.close(() => resolve());
        for (const socket of open) socket.destroy();
        rmSync(path, { force: true });
      }),
  };
}
