/**
 * Tests a container runtime with a container of its own before an agent's container uses it. A runtime that is not
 * installed, or that hangs (as gVisor does on a machine without KVM), is refused with the reason.
 */
import { messageOf, unavailable } from "../../../core/errors.ts";
import { raceSignal } from "../../../core/race-signal.ts";
import type { DockerClient } from "../../docker.ts";
import { LABELS } from "./container-spec.ts";
import { captureOutput } from "./exec.ts";

const TRIAL_MS = 60_000;
const WORKS = "runtime-works";

/** The label of a test's container, in place of an execution's id. */
const trialId = (runtime: string): string => `runtime-${runtime}`;

export function createRuntimeTrial(docker: DockerClient, instanceId: string) {
  const trials = new Map<string, Promise<void>>();
  const underWay = new Set<string>();
  async function begin(runtime: string, image: string): Promise<void> {
    underWay.add(trialId(runtime));
    try {
      await tryOnce(docker, instanceId, runtime, image);
    } catch (error) {
      trials.delete(runtime);
      throw error;
    } finally {
      underWay.delete(trialId(runtime));
    }
  }
  return {
    /**
     * Resolves when the runtime works. It is tested once, and again after a failure.
     * @throws Problem 503 `runtime_unusable` with the engine's message.
     */
    async assertWorks(runtime: string, image: string, signal: AbortSignal): Promise<void> {
      const trial = trials.get(runtime) ?? begin(runtime, image);
      trials.set(runtime, trial);
      await raceSignal(trial, signal);
    },
    /** Whether this is the container of a running test, which a sweep must leave alone. */
    isUnderWay: (executionId: string): boolean => underWay.has(executionId),
  };
}

async function tryOnce(docker: DockerClient, instanceId: string, runtime: string, image: string): Promise<void> {
  const { runtimes } = await docker.info();
  if (!runtimes.includes(runtime))
    throw createProblem(runtime, `the container engine does not know it; it has ${runtimes.join(", ") || "none"}`);
  const id = await docker.containers
    .create({
      Image: image,
      Entrypoint: ["sh", "-c", `echo ${WORKS}; read -r _`],
      Cmd: [],
      OpenStdin: true,
      // The execution label lets a sweep find the container after a crash.
      Labels: { [LABELS.instance]: instanceId, [LABELS.execution]: trialId(runtime) },
      HostConfig: { Runtime: runtime, NetworkMode: "none", CapDrop: ["ALL"], ReadonlyRootfs: true, AutoRemove: false },
    })
    .catch((error) => {
      throw createProblem(runtime, messageOf(error));
    });
  const late = AbortSignal.timeout(TRIAL_MS);
  try {
    await raceSignal(startAndAsk(docker, id), late);
  } catch (error) {
    throw createProblem(runtime, late.aborted ? `no program ran in it within ${TRIAL_MS / 1_000} s` : messageOf(error));
  } finally {
    await docker.containers.remove(id).catch(() => {});
  }
}

/** Runs a command in the container, in the same way as agents' commands. */
async function startAndAsk(docker: DockerClient, id: string): Promise<void> {
  await docker.containers.start(id);
  const { said } = await captureOutput(docker, id, { argv: ["sh", "-c", `echo ${WORKS}`] });
  if (!said.includes(WORKS)) throw new Error(`a command in it said ${JSON.stringify(said.slice(0, 200))}`);
}

const createProblem = (runtime: string, why: string) =>
  unavailable(
    "runtime_unusable",
    `The container runtime ${runtime} does not work here: ${why}. Install it and name it in the engine's configuration, or take \`runtime\` out of the agent's file.`,
  );
