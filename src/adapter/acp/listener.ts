/** Where the programs of one execution reach the model gateway: a socket in a folder, or the loopback interface. */
import { chmodSync, closeSync, fchmodSync, openSync, unlinkSync } from "node:fs";
import { LIMITS } from "../../core/limits.ts";
import type { GatewayHandler, GatewayListener, HarnessPort } from "../../engine/harness/port.ts";
import { GATEWAY_SOCKET } from "../../engine/sandbox.ts";

/** The user of a container is another one: who can reach the folder may connect, and needs the key. */
const FOR_ALL = 0o666;
/** Its folder is mounted into that container alone; on this host it is inside one that is the server's. */
const PASSABLE = 0o711;

const serve = (where: { unix: string } | { hostname: string; port: number }, handler: GatewayHandler) =>
  Bun.serve({
    ...where,
    // A model may think for minutes between two bytes.
    idleTimeout: 0,
    maxRequestBodySize: LIMITS.gatewayBodyBytes + 1,
    fetch: handler,
    error: () => new Response(null, { status: 500 }),
  } as Parameters<typeof Bun.serve>[0]);

/** See `HarnessPort.listen`. */
export const listen: HarnessPort["listen"] = async (where, handler): Promise<GatewayListener> => {
  if (where === "loopback") {
    const server = serve({ hostname: "127.0.0.1", port: 0 }, handler);
    return { url: `http://127.0.0.1:${server.port}`, close: () => server.stop(true) };
  }
  // A socket's path may have 108 bytes; that of a data folder may be longer.
  const folder = openSync(where.folder, "r");
  try {
    fchmodSync(folder, PASSABLE);
    const path = `/proc/self/fd/${folder}/${GATEWAY_SOCKET}`;
    try {
      unlinkSync(path);
    } catch {
      // No earlier server left one.
    }
    const server = serve({ unix: path }, handler);
    chmodSync(path, FOR_ALL);
    return { url: undefined, close: () => server.stop(true) };
  } finally {
    closeSync(folder);
  }
};
