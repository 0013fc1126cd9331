/**
 * A route of a sandbox that is not a container: a port of this machine's loopback, which all of its processes can
 * reach.
 */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Route } from "../../../engine/sandbox.ts";

const MAX_CONNECTIONS = 64;

/** Listens on a free port. */
export async function listenOnLoopback(onConnection: (connection: Duplex) => void): Promise<Route> {
  const { createServer } = await import("node:net");
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    // The reader learns of the end by `close`. Without this listener, an error would end the server.
    socket.on("error", () => {});
    onConnection(socket);
  });
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const close = () => {
    server.close();
    for (const socket of open) socket.destroy();
  };
  const address = server.address();
  return { host: "127.0.0.1", port: typeof address === "object" && address ? address.port : 0, close };
}
