/** Containers: their life, their logs, their commands, and the list of those with a label. */
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
  /** Processor time since its start. */
  cpuMs: number;
  processes: number;
  receivedBytes: number;
  sentBytes: number;
}

interface RemoveOptions {
  /** Ends the wait, with `sandbox_unavailable`; the engine may remove it all the same. */
  signal?: AbortSignal;
  /** Returns only when it is gone: throws `docker_conflict` while another call removes it. */
  mustBeGone?: boolean;
}

export function createContainerApi(engine: Engine) {
  const { docker, call } = engine;
  const on = (id: string) => docker().getContainer(id);
  return {
    /** Makes a container and returns its id. */
    create: (request: Docker.ContainerCreateOptions): Promise<string> =>
      call(async () => (await docker().createContainer(request)).id),
    start: (id: string): Promise<void> => call(async () => void (await on(id).start())),
    /** SIGKILL to all of it; no error when it does not run. */
    kill: (id: string): Promise<void> => call(() => settle(on(id).kill(), [404, 409])),
    /** Halts every process in it as it is. Throws `docker_conflict` when it does not run. */
    pause: (id: string): Promise<void> => call(() => on(id).pause()),
    /** Lets them go on. Throws `docker_conflict` when it is not halted. */
    unpause: (id: string): Promise<void> => call(() => on(id).unpause()),
    /** Kills and removes it with its anonymous volumes. No error when it is gone already, or is being removed. */
    remove: (id: string, { signal, mustBeGone = false }: RemoveOptions = {}): Promise<void> =>
      call(() =>
        settle(on(id).remove({ force: true, v: true, ...abortedBy(signal) }), mustBeGone ? [404] : [404, 409]),
      ),
    /** The engine's full description. Throws `docker_not_found`. */
    inspect: (id: string): Promise<Docker.ContainerInspectInfo> => call(() => on(id).inspect()),
    state: (id: string) =>
      call(async () => {
        const { State } = await on(id).inspect();
        return { running: State.Running && !State.Dead, oomKilled: State.OOMKilled, exitCode: State.ExitCode };
      }),
    /** Resolves when it does not run any more; rejects with the signal's reason. Throws `docker_not_found`. */
    ended: async (id: string, signal: AbortSignal): Promise<void> => {
      try {
        await call(() => on(id).wait({ abortSignal: signal }));
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      }
    },
    /** Paths of its writable layer that differ from the image. */
    changes: (id: string): Promise<string[]> =>
      call(async () => ((await on(id).changes()) ?? []).map((change: { Path: string }) => change.Path)),
    /** Size of its writable layer. The engine counts it: not for every second. */
    writtenBytes: (id: string): Promise<number> =>
      call(async () => {
        const [row] = await docker().listContainers({ all: true, size: true, filters: { id: [id] } });
        return numberIn(row, "SizeRw") ?? 0;
      }),
    /** Makes an image of what is in it, mounts and memory left out. `changes` are Dockerfile lines. @returns its id. */
    commit: (id: string, name: string, changes: readonly string[]): Promise<string> =>
      call(async () => {
        const { repository, tag } = splitImageName(name);
        const made: { Id: string } = await on(id).commit({ repo: repository, tag, changes });
        return made.Id;
      }),
    /** Containers that carry every one of these labels (`key` or `key=value`), stopped ones too. */
    list: (labels: readonly string[], signal?: AbortSignal): Promise<ContainerRow[]> =>
      call(async () => {
        const rows = await docker().listContainers({
          all: true,
          filters: { label: [...labels] },
          ...abortedBy(signal),
        });
        return rows.map(containerRow);
      }),
    /** One sample, at once. */
    stats: (id: string): Promise<ContainerStats> =>
      call(async () => containerStats(await on(id).stats({ stream: false, "one-shot": true }))),
    logs: (id: string, options: LogOptions): AsyncIterable<LogChunk> => followLogs(on(id), engine, options),
    exec: (id: string, request: ExecRequest): Promise<RunningExec> => startExec(on(id), engine, request),
    /** The same for a program that is talked to while it runs. */
    openExec: (id: string, request: Omit<ExecRequest, "stdin">): Promise<OpenExec> => openExec(on(id), engine, request),
    /** A file or folder of it as a tar archive, whose names begin with its own. Links in its path are followed inside it alone. */
    pack: (id: string, path: string): Promise<NodeJS.ReadableStream> => call(() => on(id).getArchive({ path })),
    /** Unpacks a tar archive below a folder of it, whether it runs or not. */
    unpack: (id: string, path: string, tar: NodeJS.ReadableStream): Promise<void> =>
      call(async () => void (await on(id).putArchive(tar, { path }))),
    /** The streams of its own command. Call it before `start`, or its first output is missed. */
    attach: (id: string, onOutput: FrameSink) => attachTo(on(id), engine, onOutput),
  };
}

const abortedBy = (signal: AbortSignal | undefined) => (signal ? { abortSignal: signal } : {});

/** Waits for a call of which these statuses count as done. */
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
