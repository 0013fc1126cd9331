/** Which sandbox this server works with: what the operator says, else Docker when it answers at the start. */
import { unavailable } from "../../core/errors.ts";
import type { SandboxDriver } from "../../engine/sandbox.ts";

export interface SandboxChoice {
  driver: SandboxDriver;
  /** Why, for the log and the status. */
  reason: string;
}

/**
 * @param docker undefined when no endpoint is configured.
 * @throws Problem 503 `docker_unavailable` when the operator asked for Docker and it does not answer.
 */
export async function chooseSandbox(
  wanted: "auto" | "docker" | "process",
  docker: { driver: SandboxDriver; ping(): Promise<void> } | undefined,
  inProcess: SandboxDriver,
): Promise<SandboxChoice> {
  if (wanted === "process" || !docker)
    return {
      driver: inProcess,
      reason: wanted === "process" ? "SANDBOX=process" : "no container engine is configured",
    };
  try {
    await docker.ping();
    return { driver: docker.driver, reason: "the container engine answers" };
  } catch {
    if (wanted === "docker")
      throw unavailable(
        "docker_unavailable",
        "SANDBOX=docker, and no container engine answers. Start it, set DOCKER_HOST, or use SANDBOX=process.",
      );
    return { driver: inProcess, reason: "no container engine answers" };
  }
}
