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
    fetch: async (request) => withPiecesFreed(await handler(request)),
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

/** Smaller pieces are not worth the work. */
const LARGE_BYTES = 32 * 1024;

/**
 * The same answer; large pieces of its stream are freed as soon as they were sent. Left to the garbage collector they pile
 * up, each further piece is read into memory that is new to the process, and the system's work for that is half
 * of what passing it on costs (`scripts/bench gateway`).
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
    // Nothing waits in the stream: the server asks for a piece once it has sent, or copied, the one before.
    { highWaterMark: 0 },
  );
  return new Response(passed, { status, headers });
}

function free({ buffer, byteLength }: Uint8Array): void {
  const isAlone = byteLength === buffer.byteLength;
  if (byteLength >= LARGE_BYTES && isAlone && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
