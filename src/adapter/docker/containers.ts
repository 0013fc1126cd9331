/** Containers: their life, their logs, their commands, and the list of those with a label. */
import type Docker from "dockerode";
import { numberIn } from "../../core/is-object.ts";
import { type AttachedContainer, attachTo } from "./attach.ts";
import type { Attend } from "./attendance.ts";
import type { FrameSink } from "./demux.ts";
import { type ExecRequest, type OpenExec, openExec, type RunningExec, startExec } from "./exec.ts";
import { callEngine } from "./failures.ts";
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

interface ContainerState {
  running: boolean;
  oomKilled: boolean;
  exitCode: number;
}

interface RemoveOptions {
  /** Ends the wait, with `sandbox_unavailable`; the engine may remove it all the same. */
  signal?: AbortSignal;
  /** Returns only when it is gone: throws `docker_conflict` while another call removes it. */
  mustBeGone?: boolean;
}

export interface ContainerApi {
  /** Makes a container and returns its id. */
  create(request: Docker.ContainerCreateOptions): Promise<string>;
  start(id: string): Promise<void>;
  /** SIGKILL to all of it; no error when it does not run. */
  kill(id: string): Promise<void>;
  /** Halts every process in it as it is. Throws `docker_conflict` when it does not run. */
  pause(id: string): Promise<void>;
  /** Lets them go on. Throws `docker_conflict` when it is not halted. */
  unpause(id: string): Promise<void>;
  /** Kills and removes it with its anonymous volumes. No error when it is gone already, or is being removed. */
  remove(id: string, options?: RemoveOptions): Promise<void>;
  /** The engine's full description. Throws `docker_not_found`. */
  inspect(id: string): Promise<Docker.ContainerInspectInfo>;
  state(id: string): Promise<ContainerState>;
  /** Resolves when it does not run any more; rejects with the signal's reason. Throws `docker_not_found`. */
  ended(id: string, signal: AbortSignal): Promise<void>;
  /** Paths of its writable layer that differ from the image. */
  changes(id: string): Promise<string[]>;
  /** Size of its writable layer. The engine counts it: not for every second. */
  writtenBytes(id: string): Promise<number>;
  /** Makes an image of what is in it, mounts and memory left out. `changes` are Dockerfile lines. @returns its id. */
  commit(id: string, name: string, changes: readonly string[]): Promise<string>;
  /** Containers that carry every one of these labels (`key` or `key=value`), stopped ones too. */
  list(labels: readonly string[], signal?: AbortSignal): Promise<ContainerRow[]>;
  /** One sample, at once. */
  stats(id: string): Promise<ContainerStats>;
  logs(id: string, options: LogOptions): AsyncIterable<LogChunk>;
  exec(id: string, request: ExecRequest): Promise<RunningExec>;
  /** The same for a program that is talked to while it runs. */
  openExec(id: string, request: Omit<ExecRequest, "stdin">): Promise<OpenExec>;
  /** A file or folder of it as a tar archive, whose names begin with its own. Links in its path are followed inside it alone. */
  pack(id: string, path: string): Promise<NodeJS.ReadableStream>;
  /** Unpacks a tar archive below a folder of it, whether it runs or not. */
  unpack(id: string, folder: string, tar: NodeJS.ReadableStream): Promise<void>;
  /** The streams of its own command. Call it before `start`, or its first output is missed. */
  attach(id: string, onOutput: FrameSink): Promise<AttachedContainer>;
}

export function createContainerApi(docker: () => Docker, address: string, attend: Attend): ContainerApi {
  const on = (id: string) => docker().getContainer(id);
  const call = <T>(action: () => Promise<T>) => callEngine(address, () => attend(action));
  return {
    create: (request) => call(async () => (await docker().createContainer(request)).id),
    start: (id) => call(async () => void (await on(id).start())),
    kill: (id) => call(() => settle(on(id).kill(), [404, 409])),
    pause: (id) => call(() => on(id).pause()),
    unpause: (id) => call(() => on(id).unpause()),
    remove: (id, { signal, mustBeGone = false } = {}) =>
      call(() =>
        settle(on(id).remove({ force: true, v: true, ...abortedBy(signal) }), mustBeGone ? [404] : [404, 409]),
      ),
    inspect: (id) => call(() => on(id).inspect()),
    state: (id) =>
      call(async () => {
        const { State } = await on(id).inspect();
        return { running: State.Running && !State.Dead, oomKilled: State.OOMKilled, exitCode: State.ExitCode };
      }),
    ended: async (id, signal) => {
      try {
        await call(() => on(id).wait({ abortSignal: signal }));
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      }
    },
    changes: (id) => call(async () => ((await on(id).changes()) ?? []).map((change: { Path: string }) => change.Path)),
    writtenBytes: (id) =>
      call(async () => {
        const [row] = await docker().listContainers({ all: true, size: true, filters: { id: [id] } });
        return numberIn(row, "SizeRw") ?? 0;
      }),
    commit: (id, name, changes) =>
      call(async () => {
        const { repository, tag } = splitImageName(name);
        const made: { Id: string } = await on(id).commit({ repo: repository, tag, changes });
        return made.Id;
      }),
    list: (labels, signal) =>
      call(async () => {
        const rows = await docker().listContainers({
          all: true,
          filters: { label: [...labels] },
          ...abortedBy(signal),
        });
        return rows.map(containerRow);
      }),
    stats: (id) => call(async () => containerStats(await on(id).stats({ stream: false, "one-shot": true }))),
    logs: (id, options) => followLogs(on(id), address, attend, options),
    exec: (id, request) => startExec(on(id), address, attend, request),
    openExec: (id, request) => openExec(on(id), address, attend, request),
    pack: (id, path) => call(() => on(id).getArchive({ path })),
    unpack: (id, path, tar) => call(async () => void (await on(id).putArchive(tar, { path }))),
    attach: (id, onOutput) => attachTo(on(id), address, attend, onOutput),
  };
}

const abortedBy = (signal: AbortSignal | undefined) => (signal ? { abortSignal: signal } : {});

/** Waits for a call of which these statuses count as done. */
async function settle(call: Promise<unknown>, doneStatuses: readonly number[]): Promise<void> {
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
