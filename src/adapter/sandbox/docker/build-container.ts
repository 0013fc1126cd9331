/** The containers of an image build. Each step has a container of its own, in which nothing of the host is mounted. */
import type Docker from "dockerode";
import type { Clock } from "../../../core/clock.ts";
import type { BuildStep, CopyStep } from "../../../core/dockerfile/plan.ts";
import { conflict } from "../../../core/errors.ts";
import type { Sandbox } from "../../../engine/sandbox.ts";
import type { ImageDetail } from "../../docker/images.ts";
import type { DockerClient } from "../../docker.ts";
import type { Owner } from "../workspace-path.ts";
import { LABELS } from "./container-spec.ts";
import { execInContainer } from "./exec.ts";
import { lockedDown, WAITING, WAITING_ARGUMENTS } from "./lock-down.ts";
import { addRelay, CAPABILITIES, layerLabels, ROOT, SETTING_UP } from "./set-up.ts";
import { tarOf } from "./volume.ts";

export interface ImageBuildsDeps {
  docker: DockerClient;
  instanceId: string;
  clock: Clock;
}

/** What all containers of a build share. */
export interface ContainerWork {
  /** Owner of the layers; layers of another owner are never reused. */
  ownerId: string;
  memoryMb: number;
  cpus: number;
  wayOut?: object | undefined;
}

export interface At {
  /** The step to perform; undefined for a container in which nothing is done. */
  step?: BuildStep | undefined;
  from: ImageDetail;
  place: { env: Readonly<Record<string, string>>; workdir: string };
}

/** The place for a container that is only read from. */
export const NOWHERE: At["place"] = { env: {}, workdir: "/" };

/** KILL is added to the capabilities that installers need, so that a step can end the processes it started. */
const BUILD_CAPABILITIES = [...CAPABILITIES, "KILL"];
const ACCOUNT_BYTES = 256 * 1024;
export const ACCOUNTS_MS = 60_000;

const isRoot = (user: string): boolean => /^(?:root|0)(?::(?:root|0))?$/.test(user);

export const execAs = (
  { docker, clock }: ImageBuildsDeps,
  containerId: string,
  user: string | undefined,
  ...call: Parameters<Sandbox["exec"]>
) =>
  execInContainer(
    {
      docker,
      containerId,
      clock,
      user: user === undefined || isRoot(user) ? undefined : user,
      restart: () => docker.containers.kill(containerId),
    },
    ...call,
  );

async function createContainer(
  { docker, instanceId }: ImageBuildsDeps,
  work: ContainerWork,
  { step, from, place }: At,
): Promise<string> {
  const { env, workdir } = place;
  const locked = lockedDown({
    memoryMb: work.memoryMb,
    cpus: work.cpus,
    network: "none",
    imageVolumes: from.volumes.filter((path) => path !== "/"),
  });
  const id = await docker.containers.create({
    Image: from.id,
    ...WAITING,
    // The image's Dockerfile may have set another entry point.
    Entrypoint: ["/bin/sh", ...WAITING_ARGUMENTS],
    User: "0:0",
    // The engine creates this folder if the image lacks it.
    WorkingDir: workdir,
    Hostname: "build",
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    Labels: { [LABELS.instance]: instanceId, [SETTING_UP]: work.ownerId },
    HostConfig: {
      ...locked,
      ReadonlyRootfs: false,
      // /tmp is not in memory here, so that the next step finds what a step puts there.
      Tmpfs: {},
      CapAdd: BUILD_CAPABILITIES,
    },
  } satisfies Docker.ContainerCreateOptions);
  if (step?.kind !== "run" || !work.wayOut) return id;
  try {
    const { arch } = await docker.info();
    const relay = tarOf((tar) => addRelay(tar, arch));
    await docker.containers.unpack(id, "/", relay);
    return id;
  } catch (error) {
    await docker.containers.remove(id).catch(() => {});
    throw error;
  }
}

/** Makes a container, does something with it, and removes it. */
export async function withContainer<T>(
  deps: ImageBuildsDeps,
  work: ContainerWork,
  at: At,
  act: (id: string) => Promise<T>,
): Promise<T> {
  const id = await createContainer(deps, work, at);
  try {
    return await act(id);
  } finally {
    await deps.docker.containers.remove(id);
  }
}

/** Commits the container's content as an image, under the step's name. */
export async function keep(
  { docker, instanceId }: ImageBuildsDeps,
  { ownerId }: ContainerWork,
  { name, key }: { name: string; key: string },
  id: string,
): Promise<ImageDetail> {
  const made = await docker.containers.commit(id, name, layerLabels(instanceId, ownerId, key));
  const image = await docker.images.inspect(made);
  if (!image) throw conflict("What a step of the build left is gone already. Begin it again.", "build_lost");
  return image;
}

/**
 * Finds the owner of copied files. @returns a sentence for the build's output when the image does not know the user or
 * group.
 */
export async function ownerOf(
  deps: ImageBuildsDeps,
  work: ContainerWork,
  at: At,
  { chown }: CopyStep,
  signal: AbortSignal,
): Promise<Owner | string> {
  if (chown === undefined) return ROOT;
  const [user = "", group = user] = chown.split(":");
  const names = [user, group].some((name) => numberIn(name) === undefined)
    ? await readAccounts(deps, work, at, signal)
    : { users: new Map<string, number>(), groups: new Map<string, number>() };
  const uid = numberIn(user) ?? names.users.get(user);
  // Without an explicit group, the group's number is the user's.
  const gid = group === user ? uid : (numberIn(group) ?? names.groups.get(group));
  if (uid === undefined || gid === undefined) return `The image knows no user or group ${chown}.`;
  return { uid, gid };
}

const numberIn = (name: string): number | undefined => (/^\d{1,9}$/.test(name) ? Number(name) : undefined);

/**
 * Reads the image's users and groups in a container of its own, because the container that is copied into never runs.
 */
async function readAccounts(deps: ImageBuildsDeps, work: ContainerWork, at: At, signal: AbortSignal) {
  return await withContainer(deps, work, { ...at, step: undefined }, async (id) => {
    await deps.docker.containers.start(id);
    const read = async (path: string) => {
      const options = { cwd: "/", timeoutMs: ACCOUNTS_MS, maxOutputBytes: ACCOUNT_BYTES, signal };
      const { exitCode, output } = await execAs(deps, id, undefined, ["cat", path], options);
      return accountsIn(exitCode === 0 ? output : "");
    };
    return { users: await read("/etc/passwd"), groups: await read("/etc/group") };
  });
}

/** Parses lines of `/etc/passwd` or `/etc/group`: a name, and its number in the third field. */
function accountsIn(text: string): Map<string, number> {
  const rows = text.split("\n").map((line): [string, number | undefined] => {
    const [name = "", , number = ""] = line.split(":");
    return [name, numberIn(number)];
  });
  return new Map(rows.filter((row): row is [string, number] => row[1] !== undefined));
}
