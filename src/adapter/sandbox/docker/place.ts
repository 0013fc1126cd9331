/** The server's folders and programs that a container gets, by their paths on the engine's machine. */
import type Docker from "dockerode";
import type { SandboxSpec } from "../../../engine/sandbox.ts";
import type { DockerClient } from "../../docker.ts";
import type { Link } from "../detached/carrying.ts";
import { relayProgram } from "../relay/program.ts";
import { createWorkspaceFiles } from "../workspace-files.ts";
import { giveWorkspace } from "../workspace-owner.ts";
import { MOUNT_POINT, type Owner } from "../workspace-path.ts";
import {
  attachLink,
  type CarriedFilesDeps,
  type Copies,
  createCarriedFiles,
  type SandboxFiles,
} from "./carried-files.ts";
import { HARNESS_STATE } from "./container-spec.ts";
import { toBindMount } from "./lock-down.ts";
import { RELAY_PATH } from "./relay.ts";
import { CARRIED_RELAY_PATH, CARRIER_PATH, programsOf } from "./volume.ts";

export interface Place {
  /** Paths of the workspace and of an external agent's own files. */
  home: string;
  state: string | undefined;
  mounts: Docker.MountSettings[];
  isEngines: boolean;
  /** Path of the relay inside the container; undefined when no routes were asked for. */
  relay: string | undefined;
  /** The container's main program; undefined for a container that only waits. */
  program: readonly string[] | undefined;
  /** Called before the container is started. */
  attach(containerId: string): Promise<void>;
  /** Makes the sandbox's files, once the container runs. */
  files(container: Omit<CarriedFilesDeps, "places" | "attached">): SandboxFiles;
  /** Called when the engine no longer has this place. */
  forget(): void;
}

interface PlaceDeps {
  docker: DockerClient;
  spec: SandboxSpec;
  /** The real path of the workspace. */
  home: string;
  /** The users that the server and the container run as. */
  server: Owner;
  owner: Owner;
  arch: string;
  relayFolder: string;
}

const hasRoutes = ({ routes, network }: SandboxSpec): boolean => routes === true || typeof network === "object";

/** Mounts the server's own folders, which the engine sees at the same paths. */
export async function mountedPlace({ spec, home, server, owner, arch, relayFolder }: PlaceDeps): Promise<Place> {
  const relay = hasRoutes(spec) ? relayProgram(relayFolder, arch) : undefined;
  const isOthers = server.uid === 0 && owner.uid !== 0;
  const state = spec.harness?.state;
  if (isOthers)
    for (const folder of [home, ...(state === undefined ? [] : [state])]) await giveWorkspace(folder, owner);
  const doNothing = async () => {};
  return {
    home,
    state,
    isEngines: false,
    program: undefined,
    forget() {},
    attach: doNothing,
    relay: relay && RELAY_PATH,
    mounts: relay === undefined ? [] : [toBindMount({ source: relay, target: RELAY_PATH }, true)],
    files: () => ({
      workspace: createWorkspaceFiles(home, server.uid === 0 ? owner : undefined),
      begin: doNothing,
      bringIn: doNothing,
      end: doNothing,
    }),
  };
}

/** Uses copies of the server's folders, in volumes of the engine. */
export async function carriedPlace(
  copies: Copies,
  { docker, spec, home, owner, arch }: PlaceDeps,
  imageId: string,
): Promise<Place> {
  const plan = { imageId, owner, arch };
  const workspace = await copies.of({ ...plan, home });
  const state = spec.harness && (await copies.of({ ...plan, home: spec.harness.state }));
  const places = [{ copy: workspace, root: MOUNT_POINT }];
  if (state) places.push({ copy: state, root: HARNESS_STATE });
  let attached: Promise<Link> | undefined;
  return {
    program: [CARRIER_PATH, MOUNT_POINT],
    async attach(containerId) {
      attached = attachLink(docker, containerId);
      await attached;
    },
    home: workspace.folder,
    state: state?.folder,
    isEngines: true,
    mounts: [programsOf(workspace)],
    relay: hasRoutes(spec) ? CARRIED_RELAY_PATH : undefined,
    files: (container) => createCarriedFiles({ ...container, places, attached }),
    forget() {
      for (const { copy } of places) copies.forget(copy);
    },
  };
}
