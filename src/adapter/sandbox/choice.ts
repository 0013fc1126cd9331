/**
 * Chooses the server's sandbox at its start: what the operator sets; else containers, when an engine answers or the
 * server has used containers before. In the latter case work waits for the engine, because isolated work must not lose
 * its isolation when an engine starts later than the server.
 */
import { unavailable } from "../../core/errors.ts";
import type { SandboxDriver } from "../../engine/sandbox.ts";

interface ContainerEngine {
  driver: SandboxDriver;
  ping(): Promise<void>;
  /** Whether agents of this server have worked in the engine's containers. */
  wasUsed(): boolean;
}

/**
 * @param docker undefined when no endpoint is configured.
 * @returns the driver, the reason for the log, and whether work waits until an engine answers.
 * @throws Problem 503 `sandbox_unavailable` when the operator asked for Docker and no engine answers.
 */
export async function chooseSandbox(
  wanted: "auto" | "docker" | "process",
  docker: ContainerEngine | undefined,
  inProcess: SandboxDriver,
) {
  if (wanted === "process" || !docker)
    return {
      driver: inProcess,
      waits: false,
      reason: wanted === "process" ? "SANDBOX=process" : "no container engine is configured",
    };
  try {
    await docker.ping();
    return { driver: docker.driver, reason: "the container engine answers", waits: false };
  } catch {
    if (wanted === "docker")
      throw unavailable(
        "sandbox_unavailable",
        "SANDBOX=docker, and no container engine answers. Start it, set DOCKER_HOST, or use SANDBOX=process.",
      );
    if (!docker.wasUsed()) return { driver: inProcess, reason: "no container engine answers", waits: false };
    return {
      driver: docker.driver,
      waits: true,
      reason:
        "no container engine answers, and agents have worked in containers here: work that needs one waits. " +
        "Start the engine, or restart the server with SANDBOX=process",
    };
  }
}
