/**
 * Tool servers in containers of their own. They are restricted like an agent's sandbox, except for one folder in which
 * each may keep data. All processes of a server end with its container.
 */
import type Docker from "dockerode";
import { badRequest } from "../../../core/errors.ts";
import { memoizeAsync } from "../../../core/once.ts";
import type { Pipe, PipeEvents } from "../../../core/pipe.ts";
import type { ToolServerSpec, ToolServers } from "../../../engine/tool-servers.ts";
import type { ImageDetail } from "../../docker/images.ts";
import type { DockerClient } from "../../docker.ts";
import { giveWorkspace } from "../workspace-owner.ts";
import type { Owner } from "../workspace-path.ts";
import { LABELS, userOf } from "./container-spec.ts";
import { lockedDown, type SharedFolder } from "./lock-down.ts";
import { createSandboxNetworks, type SandboxNetworks } from "./network.ts";
import { makeFilesVolume, type VolumePlan } from "./volume.ts";

interface DockerToolServersDeps {
  docker: DockerClient;
  instanceId: string;
  images: { find(name: string, signal?: AbortSignal): Promise<ImageDetail> };
  /** The user the server runs as. */
  owner: Owner;
  /** Whether the engine cannot see this host's folders. A server's data is in a volume then. */
  carries?: boolean;
}

interface Parts extends DockerToolServersDeps {
  networks: Pick<SandboxNetworks, "bridge" | "guard">;
}

/** Label of a container that names its tool server. */
export const SERVER_LABEL = "skep.mcp_server";
/** Folder for data that outlives the container; also the server's home. */
const DATA_FOLDER = "/data";

export function createDockerToolServers(deps: DockerToolServersDeps): ToolServers {
  const { docker, instanceId } = deps;
  const networks = createSandboxNetworks({ docker, instanceId, engine: docker.info });
  return {
    open: (spec, events, signal) => openContainer({ ...deps, networks }, spec, events, signal),
    sweep: async (isThere) => {
      const labels = [`${LABELS.instance}=${instanceId}`, SERVER_LABEL];
      const rows = await docker.containers.list(labels);
      await Promise.all(rows.map((row) => docker.containers.remove(row.id)));
      if (!deps.carries) return;
      const volumes = (await docker.volumes.list(labels)).filter((row) => !isThere(row.labels[SERVER_LABEL] ?? ""));
      await Promise.all(volumes.map(({ name }) => docker.volumes.remove(name)));
    },
    forget: async (server) => {
      if (deps.carries) await docker.volumes.remove(volumeOf(instanceId, server));
    },
    close: () => networks.close(),
  };
}

/** Starts a tool server and attaches to it. */
async function openContainer(
  deps: Parts,
  server: ToolServerSpec,
  events: PipeEvents,
  signal: AbortSignal,
): Promise<Pipe> {
  const { docker, images, networks } = deps;
  if (server.image === undefined) throw badRequest("It names no image to run in.");
  const image = await images.find(server.image, signal);
  const engine = await docker.info();
  const { owner, usernsMode } = userOf(engine, deps.owner);
  const folder = await folderOf(deps, server, { imageId: image.id, owner, arch: engine.arch });
  const network = server.network === "bridge" ? await networks.bridge() : "none";
  signal.throwIfAborted();
  const id = await docker.containers.create(
    containerOf({ server, image, owner, network, usernsMode, folder, instanceId: deps.instanceId }),
  );
  const kill = memoizeAsync(() => docker.containers.remove(id));
  try {
    if (server.network === "bridge") await networks.guard(id);
    const attached = await docker.containers.attach(id, (stream, chunk) =>
      stream === "stdout" ? events.onStdout(chunk) : events.onStderr(chunk),
    );
    await docker.containers.start(id);
    signal.throwIfAborted();
    const { closed, write, pause, resume } = attached;
    return { ended: closed.then(() => reasonOf(docker, id)), write, pause, resume, kill };
  } catch (error) {
    await kill().catch(() => {});
    throw error;
  }
}

const volumeOf = (instanceId: string, server: string): string => `skep-${instanceId}-${server}`;

/** The folder for the server's data: on this host, or in a volume on the engine's machine. */
async function folderOf(
  { docker, instanceId, carries, owner: server }: Parts,
  spec: ToolServerSpec,
  plan: Omit<VolumePlan, "name" | "labels">,
): Promise<SharedFolder> {
  if (carries) {
    const labels = { [LABELS.instance]: instanceId, [SERVER_LABEL]: spec.server };
    const { folder } = await makeFilesVolume(docker, { ...plan, labels, name: volumeOf(instanceId, spec.server) });
    return { source: folder, target: DATA_FOLDER, isEngines: true };
  }
  if (server.uid === 0 && plan.owner.uid !== 0) await giveWorkspace(spec.folder, plan.owner);
  return { source: spec.folder, target: DATA_FOLDER };
}

async function reasonOf(docker: DockerClient, id: string): Promise<string> {
  try {
    const { running, oomKilled, exitCode } = await docker.containers.state(id);
    if (running) return "the container engine cut the connection";
    return oomKilled ? "it needed more memory than it may have" : `it ended with exit code ${exitCode}`;
  } catch {
    return "its container is gone";
  }
}

interface Plan {
  server: ToolServerSpec;
  image: ImageDetail;
  owner: Owner;
  network: string;
  usernsMode?: string | undefined;
  folder: SharedFolder;
  instanceId: string;
}

function containerOf(plan: Plan): Docker.ContainerCreateOptions {
  const { server, image, owner, network, usernsMode, folder, instanceId } = plan;
  const env = { HOME: DATA_FOLDER, LANG: "C.UTF-8", ...server.env };
  return {
    Image: image.id,
    ...(server.command === undefined ? {} : { Entrypoint: [server.command] }),
    Cmd: [...server.args],
    User: `${owner.uid}:${owner.gid}`,
    WorkingDir: DATA_FOLDER,
    Hostname: "mcp",
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    Labels: { [LABELS.instance]: instanceId, [SERVER_LABEL]: server.server },
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: true,
    StdinOnce: true,
    Tty: false,
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      ...lockedDown({
        memoryMb: server.memoryMb,
        cpus: 1,
        network,
        usernsMode,
        folder,
        imageVolumes: image.volumes,
      }),
      // Its output goes to Skep; a second copy in the engine would only fill the disk.
      LogConfig: { Type: "none", Config: {} },
    },
  };
}
