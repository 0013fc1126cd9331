/** Sandboxes for tests: a driver on the real engine, temporary workspaces, and an `end` that removes everything. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgentImages } from "../adapter/sandbox/docker/agent-image.ts";
import {
  createDockerSandboxes,
  type DockerSandbox,
  type DockerSandboxDeps,
  type DockerSandboxes,
} from "../adapter/sandbox/docker/driver.ts";
import { newId } from "../core/ids.ts";
import type { ExecOptions, SandboxSpec } from "../engine/sandbox.ts";

export const EXEC: ExecOptions = { timeoutMs: 240_000, maxOutputBytes: 1024 * 1024 };

export interface SandboxFixture {
  driver: DockerSandboxes;
  instanceId: string;
  /** Creates an empty folder. @returns its path. */
  workspace(): Promise<string>;
  spec(changes?: Partial<SandboxSpec>): Promise<SandboxSpec>;
  start(changes?: Partial<SandboxSpec>): Promise<DockerSandbox>;
  end(): Promise<void>;
}

export function sandboxFixture({
  pull = false,
  ...deps
}: Pick<DockerSandboxDeps, "docker" | "defaultImage"> &
  Partial<DockerSandboxDeps> & { pull?: boolean }): SandboxFixture {
  const instanceId = newId("instance");
  const folders: string[] = [];
  const driver = createDockerSandboxes({
    images: createAgentImages({ docker: deps.docker, pull }),
    instanceId,
    relayFolder: join(tmpdir(), `skep-relay-${instanceId}`),
    server: { uid: process.getuid?.() ?? 1000, gid: process.getgid?.() ?? 1000 },
    ...deps,
  });
  const workspace = async () => {
    const folder = await mkdtemp(join(tmpdir(), "skep-workspace-"));
    folders.push(folder);
    return folder;
  };
  const spec = async (changes: Partial<SandboxSpec> = {}): Promise<SandboxSpec> => ({
    executionId: newId("execution"),
    sessionId: newId("session"),
    agentId: "engineer",
    home: changes.home ?? (await workspace()),
    network: "none",
    memoryMb: 128,
    cpus: 1,
    env: {},
    ...changes,
  });
  return {
    driver,
    instanceId,
    workspace,
    spec,
    start: async (changes) => await driver.start(await spec(changes), new AbortController().signal),
    end: async () => {
      await driver.sweep(() => false);
      await driver.close();
      for (const { name } of await deps.docker.volumes.list([`skep.instance=${instanceId}`, "skep.cache"]))
        await deps.docker.volumes.remove(name);
      await rm(join(tmpdir(), `skep-relay-${instanceId}`), { recursive: true, force: true });
      for (const folder of folders) await rm(folder, { recursive: true, force: true });
    },
  };
}
