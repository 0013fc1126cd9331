/**
 * Further Docker engines on this machine, each with its own network, processes and mounts. Killing one looks like the
 * failure of a machine.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dockerEndpoint } from "../adapter/docker/endpoint.ts";
import { connectDocker, type DockerClient } from "../adapter/docker.ts";
import { isRoot } from "./parts.ts";

/**
 * Whether engines can be started. If the machine's containerd is running, a second engine would take over its
 * containers.
 */
export const canStartEngines = (): boolean =>
  isRoot &&
  ["dockerd", "ip", "nsenter", "unshare"].every((program) => Bun.which(program)) &&
  !existsSync("/run/containerd/containerd.sock");

export interface OwnEngine {
  docker: DockerClient;
  /** Path of the engine's socket. */
  socket: string;
  /** Part of each volume's path, which a container sees in its mounts. */
  mark: string;
  /** Kills the engine with all its containers at once. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

export async function startEngine(): Promise<OwnEngine> {
  const folder = mkdtempSync(join(tmpdir(), "skep-engine-"));
  const mark = folder.slice(folder.lastIndexOf("/") + 1);
  const socket = join(folder, "docker.sock");
  const run = (...command: string[]) => {
    const { exitCode, stderr } = Bun.spawnSync(command);
    if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
  };
  run("ip", "netns", "add", mark);
  run("ip", "-n", mark, "link", "add", "skep0", "type", "bridge");
  run("ip", "-n", mark, "addr", "add", "10.213.0.1/24", "dev", "skep0");
  const child = Bun.spawn(
    [
      "nsenter",
      `--net=/run/netns/${mark}`,
      "unshare",
      "--pid",
      "--fork",
      "--kill-child",
      "--mount-proc",
      "dockerd",
      "--data-root",
      join(folder, "data"),
      "--exec-root",
      join(folder, "exec"),
      "--pidfile",
      join(folder, "pid"),
      "--bridge",
      "skep0",
      "--iptables=false",
      "--ip-forward=false",
      "-H",
      `unix://${socket}`,
    ],
    { stdin: "ignore", stdout: "ignore", stderr: Bun.file(join(folder, "log")) },
  );
  const docker = connectDocker(dockerEndpoint({ host: socket }));
  const kill = async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
  const close = async () => {
    await kill();
    run("ip", "netns", "del", mark);
    rmSync(folder, { recursive: true, force: true });
  };
  while (!(await isUp(docker))) {
    if (child.exitCode !== null) {
      const log = await Bun.file(join(folder, "log")).text();
      await close();
      throw new Error(`dockerd does not start: ${log.slice(-2_000)}`);
    }
    await Bun.sleep(50);
  }
  return { docker, socket, mark, kill, close };
}

const isUp = async (docker: DockerClient): Promise<boolean> => {
  try {
    await docker.ping();
    return true;
  } catch {
    return false;
  }
};
