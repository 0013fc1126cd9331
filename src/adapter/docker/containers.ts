/** Containers: start and stop, logs, commands, and lists by label. */
import type Docker from "dockerode";
import { numberIn } from "../../core/is-object.ts";
import { attachTo } from "./attach.ts";
import type { FrameSink } from "./demux.ts";
import { type ExecRequest, type OpenExec, openExec, type RunningExec, startExec } from "./exec.ts";
import type { Engine } from "./failures.ts";
import { splitImageName } from "./images.ts";
import { followLogs, type LogChunk, type LogOptions } from "./logs.ts";

export interface ContainerRow {
  id: string;
  name: string;
  image: string;
  /** created, running, paused, restarting, removing, exited, dead. */
  state: string;
  /** For people: `Up 3 minutes`. */
  status: string;
  /** Unix milliseconds. */
  createdAt: number;
  labels: Record<string, string>;
}

export interface ContainerStats {
  memoryBytes: number;
  memoryLimitBytes: number;
  /** Processor time since the container's start. */
  cpuMs: number;
  processes: number;
  receivedBytes: number;
  sentBytes: number;
}

interface RemoveOptions {
  /** Ends the wait with `sandbox_unavailable`; the engine may still remove the container. */
  signal?: AbortSignal;
  /**
   * Whether to fail with `docker_conflict` while another call is removing the container. Otherwise that counts as
   * removed.
   */
  mustBeGone?: boolean;
}

export function createContainerApi(engine: Engine) {
  const { docker, call } = engine;
  const getContainer = (id: string) => docker().getContainer(id);
  return {
    /** Creates a container. @returns its id. */
    create: (request: Docker.ContainerCreateOptions): Promise<string> =>
      call(async () => (await docker().createContainer(request)).id),
    start: (id: string): Promise<void> => call(async () => void (await getContainer(id).start())),
    /** Sends SIGKILL to the container. It is no error if the container does not run. */
    kill: (id: string): Promise<void> => call(() => settle(getContainer(id).kill(), [404, 409])),
    /** Freezes all processes of the container. Throws `docker_conflict` when it does not run. */
    pause: (id: string): Promise<void> => call(() => getContainer(id).pause()),
    /** Resumes a paused container. Throws `docker_conflict` when it is not paused. */
    unpause: (id: string): Promise<void> => call(() => getContainer(id).unpause()),
    /** Kills and removes the container with its anonymous volumes. It is no error if it is gone or being removed. */
    remove: (id: string, { signal, mustBeGone = false }: RemoveOptions = {}): Promise<void> =>
      call(() =>
        settle(
          getContainer(id).remove({ force: true, v: true, ...abortedBy(signal) }),
          mustBeGone ? [404] : [404, 409],
        ),
      ),
    /** The engine's full description. Throws `docker_not_found`. */
    inspect: (id: string): Promise<Docker.ContainerInspectInfo> => call(() => getContainer(id).inspect()),
    state: (id: string) =>
      call(async () => {
        const { State } = await getContainer(id).inspect();
        return { running: State.Running && !State.Dead, oomKilled: State.OOMKilled, exitCode: State.ExitCode };
      }),
    /** Resolves when the container no longer runs; rejects with the signal's reason. Throws `docker_not_found`. */
    waitForEnd: async (id: string, signal: AbortSignal): Promise<void> => {
      try {
        await call(() => getContainer(id).wait({ abortSignal: signal }));
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      }
    },
    /** Paths in the container's writable layer that differ from the image. */
    changes: (id: string): Promise<string[]> =>
      call(async () => ((await getContainer(id).changes()) ?? []).map((change: { Path: string }) => change.Path)),
    /** Size of the container's writable layer. The engine measures it, so do not call this every second. */
    writtenBytes: (id: string): Promise<number> =>
      call(async () => {
        const [row] = await docker().listContainers({ all: true, size: true, filters: { id: [id] } });
        return numberIn(row, "SizeRw") ?? 0;
      }),
    /**
     * Makes an image of the container's file system, without mounts and memory. `changes` are Dockerfile lines.
     * @returns the image's id.
     */
    commit: (id: string, name: string, changes: readonly string[]): Promise<string> =>
      call(async () => {
        const { repository, tag } = splitImageName(name);
        const made: { Id: string } = await getContainer(id).commit({ repo: repository, tag, changes });
        return made.Id;
      }),
    /** Containers that carry all of these labels (`key` or `key=value`), including stopped ones. */
    list: (labels: readonly string[], signal?: AbortSignal): Promise<ContainerRow[]> =>
      call(async () => {
        const rows = await docker().listContainers({
          all: true,
          filters: { label: [...labels] },
          ...abortedBy(signal),
        });
        return rows.map(containerRow);
      }),
    /** One sample, without waiting for a second one. */
    stats: (id: string): Promise<ContainerStats> =>
      call(async () => containerStats(await getContainer(id).stats({ stream: false, "one-shot": true }))),
    logs: (id: string, options: LogOptions): AsyncIterable<LogChunk> => followLogs(getContainer(id), engine, options),
    exec: (id: string, request: ExecRequest): Promise<RunningExec> => startExec(getContainer(id), engine, request),
    /** As `exec`, for a program whose input stays open while it runs. */
    openExec: (id: string, request: Omit<ExecRequest, "stdin">): Promise<OpenExec> =>
      openExec(getContainer(id), engine, request),
    /**
     * Packs a file or folder of the container as a tar archive whose paths begin with that file's or folder's name.
     * Links in `path` are resolved inside the container.
     */
    pack: (id: string, path: string): Promise<NodeJS.ReadableStream> =>
      call(() => getContainer(id).getArchive({ path })),
    /** Unpacks a tar archive into a folder of the container, which need not run. */
    unpack: (id: string, path: string, tar: NodeJS.ReadableStream): Promise<void> =>
      call(async () => void (await getContainer(id).putArchive(tar, { path }))),
    /**
     * Attaches to the streams of the container's own command. Call it before `start`, or its first output is missed.
     */
    attach: (id: string, onOutput: FrameSink) => attachTo(getContainer(id), engine, onOutput),
  };
}

const abortedBy = (signal: AbortSignal | undefined) => (signal ? { abortSignal: signal } : {});

/** Waits for a call, and takes failures with these HTTP statuses for success. */
export async function settle(call: Promise<unknown>, doneStatuses: readonly number[]): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Error && "statusCode" in error && doneStatuses.includes(Number(error.statusCode))) return;
    throw error;
  }
}

const containerRow = (row: Docker.ContainerInfo): ContainerRow => ({
  id: row.Id,
  name: (row.Names[0] ?? "").replace(/^\//, ""),
  image: row.Image,
  state: row.State,
  status: row.Status,
  createdAt: row.Created * 1000,
  labels: row.Labels ?? {},
});

function containerStats(stats: Docker.ContainerStats): ContainerStats {
  const networks = Object.values(stats.networks ?? {});
  return {
    memoryBytes: stats.memory_stats?.usage ?? 0,
    memoryLimitBytes: stats.memory_stats?.limit ?? 0,
    cpuMs: Math.round((stats.cpu_stats?.cpu_usage?.total_usage ?? 0) / 1e6),
    processes: stats.pids_stats?.current ?? 0,
    receivedBytes: networks.reduce((sum, network) => sum + network.rx_bytes, 0),
    sentBytes: networks.reduce((sum, network) => sum + network.tx_bytes, 0),
  };
}
