/**
 * A tool server in a container of its own: locked down as an agent's sandbox is, but for one folder that it may keep
 * things in. Everything that it starts ends with the container.
 */
import type Docker from "dockerode";
import type { Pipe, PipeEvents } from "../../../core/pipe.ts";
import type { ImageDetail } from "../../docker/images.ts";
import type { DockerClient, EngineInfo } from "../../docker.ts";
import { giveWorkspace, sandboxOwner } from "../workspace-owner.ts";
import type { Owner } from "../workspace-path.ts";
import { LABELS } from "./container-spec.ts";
import { lockedDown } from "./lock-down.ts";
import type { SandboxNetworks } from "./network.ts";

export interface ContainerServer {
  /** Its id, for the label. */
  server: string;
  image: string;
  /** Undefined: what the image itself starts. */
  command: string | undefined;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  network: "none" | "bridge";
  memoryMb: number;
  /** Folder of the host that it finds as /data and that outlives it. */
  folder: string;
}

export interface ServerContainerDeps {
  docker: DockerClient;
  instanceId: string;
  images: { find(name: string, signal?: AbortSignal): Promise<ImageDetail> };
  networks: Pick<SandboxNetworks, "bridge" | "guard">;
  /** The user the server runs as. */
  owner: Owner;
}

/** Label that names the tool server of a container. */
const SERVER_LABEL = "skep.mcp_server";
/** Where a server keeps what should outlive it; also its home. */
const DATA_FOLDER = "/data";

/** Starts it and attaches. @throws Problem: no engine, no image, a command that does not exist. */
export async function openServerContainer(
  deps: ServerContainerDeps,
  server: ContainerServer,
  events: PipeEvents,
  signal: AbortSignal,
): Promise<Pipe> {
  const { docker, images, networks } = deps;
  const image = await images.find(server.image, signal);
  const engine = await docker.info();
  const { owner, usernsMode } = identity(engine, deps.owner);
  if (deps.owner.uid === 0 && owner.uid !== 0) await giveWorkspace(server.folder, owner);
  const network = server.network === "bridge" ? await networks.bridge() : "none";
  signal.throwIfAborted();
  const id = await docker.containers.create(
    containerOf({ server, image, owner, network, usernsMode, instanceId: deps.instanceId }),
  );
  let gone: Promise<void> | undefined;
  const kill = () => {
    gone ??= docker.containers.remove(id).catch((error) => {
      gone = undefined;
      throw error;
    });
    return gone;
  };
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

/** Removes containers of tool servers that another process of this instance left. */
export async function sweepServerContainers({
  docker,
  instanceId,
}: Pick<ServerContainerDeps, "docker" | "instanceId">) {
  const rows = await docker.containers.list([`${LABELS.instance}=${instanceId}`, SERVER_LABEL]);
  await Promise.all(rows.map((row) => docker.containers.remove(row.id)));
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

/** See the sandboxes' driver: engines without root map users in their own ways. */
function identity({ rootless, engine }: EngineInfo, server: Owner): { owner: Owner; usernsMode?: string } {
  if (!rootless) return { owner: sandboxOwner(server) };
  return engine === "podman" ? { owner: server, usernsMode: "keep-id" } : { owner: { uid: 0, gid: 0 } };
}

interface Plan {
  server: ContainerServer;
  image: ImageDetail;
  owner: Owner;
  network: string;
  usernsMode?: string | undefined;
  instanceId: string;
}

function containerOf({ server, image, owner, network, usernsMode, instanceId }: Plan): Docker.ContainerCreateOptions {
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
    ...{ AttachStdin: true, AttachStdout: true, AttachStderr: true, OpenStdin: true, StdinOnce: true, Tty: false },
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      ...lockedDown({
        ...{ memoryMb: server.memoryMb, cpus: 1, network, usernsMode },
        folder: { source: server.folder, target: DATA_FOLDER },
        imageVolumes: image.volumes,
      }),
      // What it says goes to us; a second copy in the engine would only fill the disk.
      LogConfig: { Type: "none", Config: {} },
    },
  };
}
