/**
 * A volume that holds files for containers where the engine's machine cannot see the server's. Containers are given one folder of
 * it by its path on that machine, which belongs to the container's user from the start: a volume's own root cannot, without a
 * container that runs as root. The volume itself is mounted beside it, read-only, for our programs, and so that nobody removes it.
 */
import { Readable } from "node:stream";
import type Docker from "dockerode";
import { type Pack, pack } from "tar-stream";
import type { DockerClient } from "../../docker.ts";
import { carrierBytes, relayBytes } from "../relay/program.ts";
import type { Owner } from "../workspace-path.ts";

export interface FilesVolume {
  name: string;
  /** Of the files, on the engine's machine. */
  folder: string;
}

export interface VolumePlan {
  name: string;
  labels: Record<string, string>;
  imageId: string;
  /** Whom the files belong to. */
  owner: Owner;
  /** Of the programs in it; none are there when absent. */
  arch?: string | undefined;
}

/** Where the volume is mounted for its programs. Nothing else of it can be looked into from there. */
const PROGRAMS = "/run/skep";
export const CARRIER_PATH = `${PROGRAMS}/bin/carrier`;
export const CARRIED_RELAY_PATH = `${PROGRAMS}/bin/relay`;

/** Makes it with an empty folder and our programs; one that is there keeps its files. */
export async function makeFilesVolume(docker: DockerClient, plan: VolumePlan): Promise<FilesVolume> {
  const { name, labels, imageId, owner, arch } = plan;
  const mountpoint = await docker.volumes.ensure(name, labels);
  // Never started: the engine unpacks into what a container would have.
  const id = await docker.containers.create({
    Image: imageId,
    Entrypoint: ["true"],
    Cmd: [],
    Labels: labels,
    HostConfig: { NetworkMode: "none", Mounts: [{ Type: "volume", Source: name, Target: "/v", VolumeOptions }] },
  });
  try {
    await docker.containers.unpack(id, "/v", contents(owner, arch));
  } finally {
    await docker.containers.remove(id);
  }
  return { name, folder: filesFolder(mountpoint) };
}

/** Where the files of a volume are, on the engine's machine. */
export const filesFolder = (mountpoint: string): string => `${mountpoint}/kept/files`;

/** Not what the image has at that place. */
const VolumeOptions: Docker.MountSettings["VolumeOptions"] = {
  NoCopy: true,
  Labels: {},
  DriverConfig: { Name: "local", Options: {} },
};

export const programsOf = ({ name }: FilesVolume): Docker.MountSettings => mountedVolume(name, PROGRAMS);

/** The volume itself, whose files are closed to the container's user there. */
export const mountedVolume = (name: string, target: string): Docker.MountSettings => ({
  Type: "volume",
  Source: name,
  Target: target,
  ReadOnly: true,
  VolumeOptions,
});

/** An archive that is made at once. */
export function tarOf(add: (tar: Pack) => void): Readable {
  const tar = pack();
  add(tar);
  tar.finalize();
  return Readable.from(tar);
}

const contents = ({ uid, gid }: Owner, arch: string | undefined): Readable =>
  tarOf((tar) => {
    // Closed to the container's user, who has the files by their own mount.
    tar.entry({ name: "kept", type: "directory", mode: 0o700, uid: 0, gid: 0 });
    tar.entry({ name: "kept/files", type: "directory", mode: 0o755, uid, gid });
    if (arch === undefined) return;
    tar.entry({ name: "bin", type: "directory", mode: 0o755, uid: 0, gid: 0 });
    tar.entry({ name: "bin/carrier", mode: 0o555, uid: 0, gid: 0 }, carrierBytes(arch));
    tar.entry({ name: "bin/relay", mode: 0o555, uid: 0, gid: 0 }, relayBytes(arch));
  });
