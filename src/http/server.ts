/**
 * The listening socket: Bun's server in front of the gate, and a stop that lets running requests finish. The runtime
 * limits request heads (16 KiB, about 12 s), and the gate limits bodies. This file limits the rest of a connection's
 * time.
 */
import type { Server } from "bun";
import { codeOf, Problem } from "../core/errors.ts";
import { LIMITS } from "../core/limits.ts";
import type { Bodies } from "./body.ts";
import type { Gate } from "./gate.ts";
import { problemResponse, toProblem } from "./problem.ts";
import { routesBySegments } from "./raw-path.ts";

interface Listening {
  /** URL with the real port, e.g. `http://127.0.0.1:8000`. */
  url: string;
  port: number;
  /** Accepts no new requests, waits for running ones for at most LIMITS.drainMs, then closes. */
  stop(): Promise<void>;
}

interface ListenOptions {
  gate: Gate;
  bodies: Bodies;
  host: string;
  port: number;
  /** Ends the event streams, so that stopping does not wait for them. */
  endStreams(): void;
  /** How long a connection may be idle, in ms. */
  keepAliveMs?: number;
}

/** @throws Problem 409 `port_in_use`, 422 `bad_address`. */
export function listen(options: ListenOptions): Listening {
  const { gate, bodies, host, port, endStreams, keepAliveMs = LIMITS.keepAliveMs } = options;
  async function serve(request: Request, self: Server<undefined>, segments: number): Promise<Response> {
    // A handler may take as long as it needs.
    self.timeout(request, 0);
    const response = await gate(request, { address: self.requestIP(request)?.address ?? "", segments });
    if (isEventStream(response)) return response;
    // The timer restarts as the client takes the answer. The rest of a refused body is dropped for a while, so that a
    // client that only writes can still read the answer, and a proxy can pass it on.
    const ms = bodies.isUnread(request) ? LIMITS.refusedBodyMs : keepAliveMs;
    self.timeout(request, ms / 1_000);
    return response;
  }
  let server: Server<undefined>;
  try {
    server = Bun.serve({
      hostname: host,
      port,
      development: false,
      // Outside development, the runtime would share the port by default: two servers would answer in turns.
      reusePort: false,
      idleTimeout: keepAliveMs / 1_000,
      // The gate refuses large bodies with a problem that proxies pass on; the runtime would only close the connection.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      routes: routesBySegments(serve),
      fetch: (request, self) => serve(request, self, 0),
      // Never reached, because the gate does not throw. If it did, this would hide the runtime's own error page.
      error: (error) => problemResponse(toProblem(error).problem, { requestId: "unknown", path: "/" }),
    });
  } catch (error) {
    const code = codeOf(error);
    if (code === "EADDRINUSE")
      throw new Problem(
        409,
        "port_in_use",
        `Port ${port} on ${host} is taken. Choose another with --port, or stop what listens there.`,
      );
    if (code === "EACCES")
      throw new Problem(422, "bad_address", `Port ${port} needs more rights. Choose one above 1023 with --port.`);
    throw new Problem(
      422,
      "bad_address",
      `Cannot listen on ${host}:${port}. Name an address of this machine with --host.`,
    );
  }
  const shown = host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${shown}:${server.port}`,
    port: server.port ?? port,
    async stop() {
      endStreams();
      const drained = server.stop();
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<"late">((resolve) => {
        timer = setTimeout(() => resolve("late"), LIMITS.drainMs);
      });
      if ((await Promise.race([drained, late])) === "late") await server.stop(true);
      clearTimeout(timer);
    },
  };
}

const isEventStream = ({ headers }: Response): boolean =>
  headers.get("content-type")?.startsWith("text/event-stream") ?? false;
