/**
 * Which sandbox this server works with, decided at its start: what the operator says, else containers when an engine
 * answers, or when the server has worked in containers before. Work that was isolated then does not lose that because an
 * engine starts later than the server: it waits.
 */
import { unavailable } from "../../core/errors.ts";
import type { SandboxDriver } from "../../engine/sandbox.ts";

interface ContainerEngine {
  driver: SandboxDriver;
  ping(): Promise<void>;
  /** Whether agents of this server have worked in its containers. */
  wasUsed(): boolean;
}

/**
 * @param docker undefined when no endpoint is configured.
 * @returns the driver; why, for the log; and whether work waits until an engine answers.
 * @throws Problem 503 `sandbox_unavailable` when the operator asked for Docker and it does not answer.
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
