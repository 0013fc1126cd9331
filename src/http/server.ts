/** The listening socket: Bun's server in front of the gate, and a stop that lets requests end first. */
import type { Server } from "bun";
import { Problem } from "../core/errors.ts";
import { LIMITS } from "../core/limits.ts";
import type { Gate } from "./gate.ts";

export interface Listening {
  /** Address with the real port, e.g. `http://127.0.0.1:8000`. */
  url: string;
  port: number;
  /** Takes no new requests, waits for running ones at most LIMITS.drainMs, then closes. */
  stop(): Promise<void>;
}

/** @throws Problem 409 `port_in_use`, 422 `bad_address`. */
export function listen(gate: Gate, { host, port }: { host: string; port: number }, endStreams: () => void): Listening {
  let server: Server<undefined>;
  try {
    server = Bun.serve({
      hostname: host,
      port,
      idleTimeout: 0,
      maxRequestBodySize: LIMITS.uploadBytes + LIMITS.bodyBytes,
      fetch: (request, self) => gate(request, self.requestIP(request)?.address ?? ""),
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
