/** The model gateway of one execution, offered to its sandbox alone: on a route into it. */
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { LIMITS } from "../../core/limits.ts";
import type { HarnessPort } from "../../engine/harness/port.ts";

/** See `HarnessPort.listen`. */
export const listen: HarnessPort["listen"] = async (openRoute, handler) => {
  // On this host it is a port like any other: who finds it needs the execution's token.
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: handler,
    // A model may think for minutes between two bytes.
    idleTimeout: 0,
    maxRequestBodySize: LIMITS.gatewayBodyBytes + 1,
    error: () => new Response(null, { status: 500 }),
  });
  const join = (from: Duplex): void => {
    const to = connect({ host: "127.0.0.1", port: server.port ?? 0, noDelay: true });
    from.pipe(to).pipe(from);
    from.on("error", () => to.destroy()).on("close", () => to.destroy());
    to.on("error", () => from.destroy()).on("close", () => from.destroy());
  };
  try {
    const route = await openRoute(join, server.port);
    return {
      url: `http://${route.host}:${route.port}`,
      async close() {
        route.close();
        await server.stop(true);
      },
    };
  } catch (error) {
    await server.stop(true);
    throw error;
  }
};
