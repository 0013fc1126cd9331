/** Containers of a build: each step has one, which nothing of the host is mounted in. */
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

/** What all containers of a build have in common. */
export interface ContainerWork {
  /** Whose layers these are: another's are never taken. */
  ownerId: string;
  memoryMb: number;
  cpus: number;
  wayOut?: object | undefined;
}

export interface At {
  /** Undefined: one in which nothing is done. */
  step?: BuildStep | undefined;
  from: ImageDetail;
  place: { env: Readonly<Record<string, string>>; workdir: string };
}

/** Of one that is only read from. */
export const NOWHERE: At["place"] = { env: {}, workdir: "/" };

/** Beside what installers need: a step ends what it started. */
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
    // The Dockerfile may have said otherwise where programs are.
    Entrypoint: ["/bin/sh", ...WAITING_ARGUMENTS],
    User: "0:0",
    // The engine makes it where the image has none.
    WorkingDir: workdir,
    Hostname: "build",
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    Labels: { [LABELS.instance]: instanceId, [SETTING_UP]: work.ownerId },
    HostConfig: {
      ...locked,
      ReadonlyRootfs: false,
      // What a step puts into /tmp is there for the next one.
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

/** Something done with a container of its own, which is removed then. */
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

/** Makes an image of what is in the container, under the step's name. */
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

/** Whom copied files belong to. @returns a sentence where the image does not know them. */
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
  // Without a group of its own, its number is the user's.
  const gid = group === user ? uid : (numberIn(group) ?? names.groups.get(group));
  if (uid === undefined || gid === undefined) return `The image knows no user or group ${chown}.`;
  return { uid, gid };
}

const numberIn = (name: string): number | undefined => (/^\d{1,9}$/.test(name) ? Number(name) : undefined);

/** Read by a container of its own: the one that is copied into never runs. */
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

/** Lines of `/etc/passwd` and `/etc/group`: a name, and its number in the third place. */
function accountsIn(text: string): Map<string, number> {
  const rows = text.split("\n").map((line): [string, number | undefined] => {
    const [name = "", , number = ""] = line.split(":");
    return [name, numberIn(number)];
  });
  return new Map(rows.filter((row): row is [string, number] => row[1] !== undefined));
}
