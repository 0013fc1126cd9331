/**
 * A volume that holds files for containers, for when the engine's machine cannot see the server's files.
 * Containers get one folder of the volume, mounted by its path on that machine. This folder belongs to the container's
 * user from the start; the root of a volume could not, without a container that runs as root.
 * The volume itself is also mounted, read-only. It holds Skep's programs, and a mounted volume cannot be removed.
 */
import { Readable } from "node:stream";
import type Docker from "dockerode";
import { type Pack, pack } from "tar-stream";
import type { DockerClient } from "../../docker.ts";
import { carrierBytes, relayBytes } from "../relay/program.ts";
import type { Owner } from "../workspace-path.ts";

export interface FilesVolume {
  name: string;
  /** Path of the files' folder on the engine's machine. */
  folder: string;
}

export interface VolumePlan {
  name: string;
  labels: Record<string, string>;
  imageId: string;
  /** The user that the files belong to. */
  owner: Owner;
  /** Architecture of the programs in the volume; when absent, there are none. */
  arch?: string | undefined;
}

/** Mount point of the volume for its programs. The user cannot look into its other folders from there. */
const PROGRAMS = "/run/skep";
export const CARRIER_PATH = `${PROGRAMS}/bin/carrier`;
export const CARRIED_RELAY_PATH = `${PROGRAMS}/bin/relay`;

/** Makes the volume with an empty folder and Skep's programs. An existing volume keeps its files. */
export async function makeFilesVolume(docker: DockerClient, plan: VolumePlan): Promise<FilesVolume> {
  const { name, labels, imageId, owner, arch } = plan;
  const mountpoint = await docker.volumes.ensure(name, labels);
  // This container is never started: the engine unpacks files through its mount.
  const id = await docker.containers.create({
    Image: imageId,
    Entrypoint: ["true"],
    Cmd: [],
    Labels: labels,
    HostConfig: { NetworkMode: "none", Mounts: [{ Type: "volume", Source: name, Target: "/v", VolumeOptions }] },
  });
  try {
    await docker.containers.unpack(id, "/v", packContents(owner, arch));
  } finally {
    await docker.containers.remove(id);
  }
  return { name, folder: filesFolder(mountpoint) };
}

/** Path of a volume's files on the engine's machine. */
export const filesFolder = (mountpoint: string): string => `${mountpoint}/kept/files`;

/** `NoCopy`: the volume is not filled with what the image has at that path. */
const VolumeOptions: Docker.MountSettings["VolumeOptions"] = {
  NoCopy: true,
  Labels: {},
  DriverConfig: { Name: "local", Options: {} },
};

export const programsOf = ({ name }: FilesVolume): Docker.MountSettings => mountedVolume(name, PROGRAMS);

/** Mounts the volume itself, whose files the container's user cannot reach there. */
export const mountedVolume = (name: string, target: string): Docker.MountSettings => ({
  Type: "volume",
  Source: name,
  Target: target,
  ReadOnly: true,
  VolumeOptions,
});

/** Makes an archive from entries that are added at once. */
export function tarOf(add: (tar: Pack) => void): Readable {
  const tar = pack();
  add(tar);
  tar.finalize();
  return Readable.from(tar);
}

const packContents = ({ uid, gid }: Owner, arch: string | undefined): Readable =>
  tarOf((tar) => {
    // Closed to the container's user, who reaches the files through their own mount.
    tar.entry({ name: "kept", type: "directory", mode: 0o700, uid: 0, gid: 0 });
    tar.entry({ name: "kept/files", type: "directory", mode: 0o755, uid, gid });
    if (arch === undefined) return;
    tar.entry({ name: "bin", type: "directory", mode: 0o755, uid: 0, gid: 0 });
    tar.entry({ name: "bin/carrier", mode: 0o555, uid: 0, gid: 0 }, carrierBytes(arch));
    tar.entry({ name: "bin/relay", mode: 0o555, uid: 0, gid: 0 }, relayBytes(arch));
  });
