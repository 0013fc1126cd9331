/** Checks of the machine for `skep doctor`: programs, containers, limits of the kernel. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DockerClient } from "../../adapter/docker.ts";
import { attempt } from "../../core/attempt.ts";
import type { Config } from "../../core/config.ts";
import { messageOf } from "../../core/errors.ts";
import { type Finding, fail, folderFindings, formatAmount, imageFinding, pass, warn } from "./model.ts";

const MEMORY_WANTED_BYTES = 512 * 1024 ** 2;
const FILES_WANTED = 4_096;

export type Engine = Pick<DockerClient, "address" | "info" | "ping"> & {
  images: Pick<DockerClient["images"], "inspect">;
  /** Whether the server builds this image when it is missing, and has what it needs to build it. */
  canMake(image: string): Promise<boolean>;
};

/**
 * Checks the container engine and the agents' image.
 * @param wereUsed whether agents of this data folder have worked in containers.
 */
export async function checkEngine(config: Config, engine: Engine, wereUsed: boolean): Promise<Finding[]> {
  if (config.sandbox === "process")
    return [
      pass("sandbox", `process, as SANDBOX says; commands of agents are ${config.allowHostShell ? "run" : "refused"}`),
    ];
  if (config.sandbox === "kubernetes")
    return [pass("sandbox", "kubernetes, as SANDBOX says; a running server checks its cluster")];
  try {
    await engine.ping();
    const { engine: name, version, apiVersion, rootless } = await engine.info();
    const found = `${name} ${version}, API ${apiVersion}${rootless ? ", rootless" : ""}, at ${engine.address}`;
    return [
      pass("sandbox", "docker: agents work in containers"),
      pass("container engine", found),
      ...folderFindings(config),
      await checkImage(config, engine),
    ];
  } catch (error) {
    const detail = messageOf(error);
    return config.sandbox === "docker"
      ? [fail("container engine", detail, "start Docker or Podman, name it in DOCKER_HOST, or set SANDBOX=process")]
      : [
          warn(
            "container engine",
            `${detail} ${describeFallback(config, wereUsed)}`,
            "start Docker or Podman, or name it in DOCKER_HOST",
          ),
        ];
  }
}

/** What a server with SANDBOX=auto does when it starts without an engine. */
function describeFallback({ allowHostShell }: Config, wereUsed: boolean): string {
  if (wereUsed) return "Work that needs a container waits for it";
  return allowHostShell ? "Commands of agents run on this host" : "Agents get files, but no commands";
}

async function checkImage({ agentImage, imagePull }: Config, engine: Engine): Promise<Finding> {
  const [present, makeable] = await Promise.all([engine.images.inspect(agentImage), engine.canMake(agentImage)]);
  return imageFinding(agentImage, { present: present !== undefined, makeable, pull: imagePull });
}

/** @param version returns git's version, or rejects when there is no git. */
export async function checkGit(version: () => Promise<string>): Promise<Finding> {
  try {
    return pass("git", await version());
  } catch (error) {
    return warn("git", messageOf(error), "install git: projects need it; runs without a project do not");
  }
}

/** @param server address and process id of the server on this data folder, if one runs. */
export function checkServer(config: Config, server: { url: string; pid: number } | undefined): Finding[] {
  const running = pass("server", server ? `runs at ${server.url} (process ${server.pid})` : "is not running");
  const weak = config.weakKeys.map((name) =>
    warn("keys", `${name} is short enough to be guessed`, "make another with: openssl rand -hex 32"),
  );
  const isOpen = !config.authRequired && !/^(127\.|localhost$|::1$|\[::1\]$)/.test(config.host);
  if (!isOpen) return [running, ...weak];
  return [
    running,
    ...weak,
    warn(
      "access",
      `HOST ${config.host} lets others in, and no credentials are required`,
      "unset AUTH_ENABLED, or set it to true",
    ),
  ];
}

/**
 * Checks the limits of the process's control group and of its file descriptors, and what a server inside a container
 * needs.
 */
export function checkBounds(config: Config, root = "/"): Finding[] {
  const findings: Finding[] = [];
  const memory = parseNumber(
    readText(root, "sys/fs/cgroup/memory.max") ?? readText(root, "sys/fs/cgroup/memory/memory.limit_in_bytes"),
  );
  if (memory !== undefined && memory < 2 ** 50)
    findings.push(
      memory < MEMORY_WANTED_BYTES
        ? warn(
            "memory",
            `limited to ${formatAmount(memory, "Bytes")}`,
            `allow at least ${formatAmount(MEMORY_WANTED_BYTES, "Bytes")}`,
          )
        : pass("memory", `limited to ${formatAmount(memory, "Bytes")}`),
    );
  const files = parseNumber(/^Max open files\s+(\S+)/m.exec(readText(root, "proc/self/limits") ?? "")?.[1]);
  if (files !== undefined)
    findings.push(
      files < FILES_WANTED
        ? warn("open files", String(files), `raise the limit: ulimit -n ${FILES_WANTED}, or LimitNOFILE= of the unit`)
        : pass("open files", String(files)),
    );
  const hostEngine = /\s\S*\/(docker|podman)\.sock\s/.test(readText(root, "proc/self/mountinfo") ?? "");
  if (hostEngine && config.sandbox !== "process")
    findings.push(
      warn(
        "container",
        "the container engine outside mounts workspaces by their path there",
        `mount the data folder at the same path inside and outside: -v ${config.data}:${config.data}`,
      ),
    );
  return findings;
}

const readText = (root: string, path: string): string | undefined =>
  attempt(() => readFileSync(join(root, path), "utf8").trim());

const parseNumber = (value: string | undefined): number | undefined =>
  value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined;
