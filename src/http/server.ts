/**
 * The listening socket: Bun's server in front of the gate, and a stop that lets requests end first. The runtime bounds
 * heads (16 KiB, about 12 s); bodies are bounded by the gate; here is the rest of a connection's time.
 */
import type { Server } from "bun";
import { Problem } from "../core/errors.ts";
import { LIMITS } from "../core/limits.ts";
import type { Bodies } from "./body.ts";
import type { Gate } from "./gate.ts";
import { problemResponse, toProblem } from "./problem.ts";

export interface Listening {
  /** Address with the real port, e.g. `http://127.0.0.1:8000`. */
  url: string;
  port: number;
  /** Takes no new requests, waits for running ones at most LIMITS.drainMs, then closes. */
  stop(): Promise<void>;
}

export interface ListenOptions {
  gate: Gate;
  bodies: Bodies;
  host: string;
  port: number;
  /** Ends the event streams, so that a stop does not wait for them. */
  endStreams(): void;
}

/** @throws Problem 409 `port_in_use`, 422 `bad_address`. */
export function listen({ gate, bodies, host, port, endStreams }: ListenOptions): Listening {
  let server: Server<undefined>;
  try {
    server = Bun.serve({
      hostname: host,
      port,
      development: false,
      idleTimeout: LIMITS.keepAliveMs / 1_000,
      // The gate refuses what is too large, with a problem that proxies pass on; the runtime would only cut the line.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      async fetch(request, self) {
        // A handler takes the time that it needs.
        self.timeout(request, 0);
        const response = await gate(request, self.requestIP(request)?.address ?? "");
        self.timeout(request, secondsLeft(request, response, bodies));
        return response;
      },
      // Nothing gets here: the gate does not throw. Should it, nobody sees a page of the runtime's.
      error: (error) => problemResponse(toProblem(error).problem, { requestId: "unknown", path: "/" }),
    });
  } catch (error) {
    const code = (error as { code?: string }).code;
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

/** How long the connection may stand still from here on; the timer starts again as the client takes the answer. */
function secondsLeft(request: Request, response: Response, bodies: Bodies): number {
  if (response.headers.get("content-type")?.startsWith("text/event-stream")) return 0;
  // What still comes of a refused body is dropped for a while, so that the client gets to read the answer.
  const ms = bodies.isUnread(request) ? LIMITS.refusedBodyMs : LIMITS.keepAliveMs;
  return ms / 1_000;
}
