/**
 * The Docker sandbox: one locked-down container an execution (docker-spec.ts says how), gone with it. Files are worked
 * on from the server's side inside the workspace's folder; commands run in the container.
 */
import { constants } from "node:fs";
import { access, realpath } from "node:fs/promises";
import { type Clock, systemClock } from "../../../core/clock.ts";
import { isProblem, unavailable } from "../../../core/errors.ts";
import type { Sandbox, SandboxDriver, SandboxSpec } from "../../../engine/sandbox.ts";
import type { ImageDetail } from "../../docker/images.ts";
import type { DockerClient, EngineInfo } from "../../docker.ts";
import { createWorkspaceFiles } from "../workspace-files.ts";
import { giveWorkspace, sandboxOwner } from "../workspace-owner.ts";
import type { Owner } from "../workspace-path.ts";
import type { AgentImages } from "./agent-image.ts";
import { containerRequest, LABELS } from "./container-spec.ts";
import { execInContainer } from "./exec.ts";
import { createSandboxNetworks, type SandboxNetworks } from "./network.ts";

export interface DockerSandboxDeps {
  docker: DockerClient;
  /** Whose containers they are: label and name of the network. */
  instanceId: string;
  defaultImage: string;
  images: Pick<AgentImages, "find">;
  /** The user the server runs as. */
  server: Owner;
  clock?: Clock;
  /** What an operator should know, once: e.g. that the metadata address cannot be shut off here. */
  onNotice?(message: string): void;
}

export interface DockerSandboxes extends SandboxDriver {
  /** Removes the instance's networks when nothing uses them. */
  close(): Promise<void>;
}

interface Parts extends Required<Pick<DockerSandboxDeps, "clock" | "onNotice">> {
  deps: DockerSandboxDeps;
  networks: SandboxNetworks;
  engine(): Promise<EngineInfo>;
}

export function createDockerSandboxes(deps: DockerSandboxDeps): DockerSandboxes {
  const { docker, instanceId, clock = systemClock, onNotice = () => {} } = deps;
  const engine = remembered(() => docker.info());
  const networks = createSandboxNetworks({ docker, instanceId, engine, onNotice });
  const parts: Parts = { deps, clock, onNotice, networks, engine };
  return {
    kind: "docker",
    start: (spec, signal) => startSandbox(parts, spec, signal),
    sweep: async (isLive) => {
      const rows = await docker.containers.list([`${LABELS.instance}=${instanceId}`]);
      const dead = rows.filter((row) => !isLive(row.labels[LABELS.execution] ?? ""));
      await Promise.all(dead.map((row) => docker.containers.remove(row.id)));
      return dead.length;
    },
    close: () => networks.close(),
  };
}

/** The value of the first call that succeeded. */
function remembered<T>(ask: () => Promise<T>): () => Promise<T> {
  let known: T | undefined;
  return async () => {
    known ??= await ask();
    return known;
  };
}

async function startSandbox(parts: Parts, spec: SandboxSpec, signal: AbortSignal): Promise<Sandbox> {
  const { docker, instanceId, server } = parts.deps;
  signal.throwIfAborted();
  const workspace = await workspaceOf(spec);
  const image = await parts.deps.images.find(spec.image ?? parts.deps.defaultImage, signal);
  const { owner, usernsMode } = await identity(parts, server);
  if (server.uid === 0 && owner.uid !== 0) await giveWorkspace(workspace, owner);
  const network = spec.network === "bridge" ? await parts.networks.bridge() : "none";
  const plan = { spec: { ...spec, workspace }, instanceId, imageId: image.id, imageVolumes: image.volumes };
  const id = await docker.containers.create(containerRequest({ ...plan, owner, network, usernsMode }));
  try {
    if (spec.network === "bridge") await parts.networks.guard(id);
    await docker.containers.start(id);
    signal.throwIfAborted();
  } catch (error) {
    await docker.containers.remove(id).catch(() => {});
    throw startFailure(error, image);
  }
  return createSandbox(parts, id, workspace, server.uid === 0 ? owner : undefined);
}

/** The real path: what the engine mounts must be what the file tools work on. */
async function workspaceOf(spec: SandboxSpec): Promise<string> {
  try {
    const path = await realpath(spec.workspace);
    await access(path, constants.R_OK | constants.X_OK);
    return path;
  } catch {
    throw unavailable("workspace_missing", "The workspace's folder is not there or not open to the server.");
  }
}

/**
 * As whom the container runs. Engines without root map the server's user to 0 inside (Docker) or keep it (Podman,
 * `keep-id`): there 0 is no more than that user.
 */
async function identity(parts: Parts, server: Owner): Promise<{ owner: Owner; usernsMode?: string }> {
  const engine = await parts.engine();
  if (!engine.rootless) return { owner: sandboxOwner(server) };
  return engine.engine === "podman" ? { owner: server, usernsMode: "keep-id" } : { owner: { uid: 0, gid: 0 } };
}

function startFailure(error: unknown, image: ImageDetail): unknown {
  if (!isProblem(error) || !/"sh": (executable file not found|no such file)/.test(error.detail)) return error;
  const name = image.tags[0] ?? image.id;
  return unavailable("image_unusable", `The image ${name} has no \`sh\`; an agent's image needs one.`);
}

function createSandbox(parts: Parts, id: string, workspace: string, owner: Owner | undefined): Sandbox {
  const { docker } = parts.deps;
  const { clock } = parts;
  let restarting: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;
  const restart = () => {
    restarting ??= (async () => {
      await docker.containers.kill(id);
      if (!stopping) await docker.containers.start(id);
    })().finally(() => {
      restarting = undefined;
    });
    return restarting;
  };
  return {
    kind: "docker",
    containerId: id,
    hasShell: true,
    ...createWorkspaceFiles(workspace, owner),
    exec: async (argv, options) => {
      await restarting;
      return await execInContainer({ docker, containerId: id, clock, restart }, argv, options);
    },
    stop: () => {
      stopping ??= docker.containers.remove(id).catch((error) => {
        stopping = undefined;
        throw error;
      });
      return stopping;
    },
  };
}
