/**
 * Runs the commands of one Pod, with the same interface as an engine's containers (`docker/exec.ts`,
 * `docker/relay.ts`).
 */
import { isProblem, messageOf, unavailable } from "../../../core/errors.ts";
import type { FrameSink } from "../../docker/demux.ts";
import type { OpenExec, RunningExec } from "../../docker/exec.ts";
import type { Cluster } from "../../kubernetes/cluster.ts";
import type { PodExec } from "../../kubernetes/exec.ts";
import type { ExecContainers } from "../docker/exec.ts";
import { type CommandLine, commandLine, TAKES_LINE } from "./command-line.ts";
import { CONTAINER } from "./pod.ts";
import { stateOf } from "./pod-state.ts";

interface PodPlace {
  client: Cluster;
  namespace: string;
  pod: string;
  /** Aborted when the Pod is lost; ends the connections to its programs. */
  lost: AbortSignal;
}

const MAX_SAID_CHARACTERS = 2_000;

const podPath = ({ namespace, pod }: Pick<PodPlace, "namespace" | "pod">): string =>
  `/api/v1/namespaces/${namespace}/pods/${pod}`;

export function createPodCommands(place: PodPlace) {
  async function begin(line: CommandLine, onOutput: FrameSink): Promise<PodExec> {
    place.lost.throwIfAborted();
    const { client, namespace, pod } = place;
    const exec = await client.exec({
      namespace,
      pod,
      container: CONTAINER,
      argv: TAKES_LINE,
      hasInput: true,
      onOutput,
    });
    place.lost.addEventListener("abort", exec.detach, { once: true });
    const forget = () => place.lost.removeEventListener("abort", exec.detach);
    void exec.closed.then(forget, forget);
    await exec.write(Buffer.from(commandLine(line)));
    return exec;
  }
  const asRunning = (exec: PodExec): RunningExec => ({
    closed: exec.closed,
    exitCode: async () => exec.exitCode(),
    write: (bytes) => void exec.write(bytes),
    detach: exec.detach,
  });
  const containers: ExecContainers = {
    async exec(_id, { argv, env, cwd, stdin, keepsInput = false, onOutput }) {
      const bytes = stdin === undefined ? undefined : Buffer.from(stdin);
      const input = keepsInput ? "open" : (bytes?.length ?? "none");
      const exec = await begin({ argv, env, cwd, input }, onOutput);
      if (bytes) void exec.write(bytes).then(exec.endInput);
      return asRunning(exec);
    },
    async openExec(_id, { argv, env, cwd, onOutput }): Promise<OpenExec> {
      const exec = await begin({ argv, env, cwd, input: "open" }, onOutput);
      const { pause, resume } = exec;
      return { ...asRunning(exec), pause, resume, write: (data) => exec.write(Buffer.from(data)) };
    },
    async state() {
      const answer = await readPod(place);
      const { isRunning, oomKilled, exitCode } = stateOf(answer);
      return { running: isRunning && !place.lost.aborted, oomKilled, exitCode };
    },
  };
  return {
    containers,
    /** Starts a program of the server's own whose streams stay open. @throws Problem 503 `sandbox_lost`. */
    async talk(argv: readonly string[], onStdout: (chunk: Uint8Array) => void): Promise<PodExec> {
      try {
        return await begin({ argv, input: "open" }, (stream, chunk) => {
          if (stream === "stdout") onStdout(chunk);
        });
      } catch (error) {
        throw asLoss(error);
      }
    },
    /**
     * Runs a command of the server's own with an input. @returns the exit code and the beginning of both outputs.
     * @throws Problem 503 `sandbox_lost`.
     */
    async run(argv: readonly string[], input: Uint8Array) {
      let output = "";
      try {
        const exec = await begin({ argv, input: input.length }, (_stream, chunk) => {
          if (output.length < MAX_SAID_CHARACTERS) output += Buffer.from(chunk).toString();
        });
        await exec.write(input);
        await exec.endInput();
        await exec.closed;
        return { exitCode: exec.exitCode(), output: output.slice(0, MAX_SAID_CHARACTERS) };
      } catch (error) {
        throw asLoss(error);
      }
    },
  };
}

const LOSSES = new Set(["sandbox_unavailable", "kubernetes_not_found", "kubernetes_error"]);

/** Turns a failed connection to a Pod that has worked into `sandbox_lost`. */
function asLoss(error: unknown): unknown {
  if (isProblem(error) && !LOSSES.has(error.code)) return error;
  return unavailable("sandbox_lost", `The sandbox is gone: ${messageOf(error)}`);
}

/** The Pod as the cluster describes it; undefined when it is gone. */
export async function readPod(place: Pick<PodPlace, "client" | "namespace" | "pod">): Promise<unknown> {
  try {
    return await place.client.call("GET", podPath(place));
  } catch (error) {
    if (isProblem(error) && error.code === "kubernetes_not_found") return undefined;
    throw error;
  }
}
