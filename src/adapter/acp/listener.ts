/** Offers the model gateway of one execution to that execution's sandbox alone, by a route into the sandbox. */
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { LIMITS } from "../../core/limits.ts";
import type { HarnessPort } from "../../engine/harness/port.ts";

/** See `HarnessPort.listen`. */
export const listen: HarnessPort["listen"] = async (openRoute, handler) => {
  // On this host any process can connect to the port, but it needs the execution's token.
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => withPiecesFreed(await handler(request)),
    // A model may think for minutes between two bytes, so the server must not close an idle connection.
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

/** Freeing smaller pieces by hand does not pay. */
const LARGE_BYTES = 32 * 1024;

/**
 * Returns the same answer, whose stream frees large pieces as soon as they were sent.
 * If that were left to the garbage collector, pieces would pile up, and each further piece would be read into memory
 * that is new to the process. The system's work for that is half of the cost of passing the stream on (`scripts/bench
 * gateway`).
 */
function withPiecesFreed(answer: Response): Response {
  const { body, status, headers } = answer;
  if (!body || !/^text\/event-stream/i.test(headers.get("content-type") ?? "")) return answer;
  const pieces = body.getReader();
  let sent: Uint8Array | undefined;
  const passed = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (sent) free(sent);
        const next = await pieces.read();
        sent = next.value;
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: (reason) => pieces.cancel(reason),
    },
    // The stream buffers nothing: the server asks for a piece only when it has sent or copied the one before, which can
    // then be freed.
    { highWaterMark: 0 },
  );
  return new Response(passed, { status, headers });
}

function free({ buffer, byteLength }: Uint8Array): void {
  const isAlone = byteLength === buffer.byteLength;
  if (byteLength >= LARGE_BYTES && isAlone && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
