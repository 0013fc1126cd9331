/**
 * The set-up of a project's code. Its command runs once in a container of its own, and the result is an image that
 * later sandboxes start from.
 * Unlike in a sandbox, the root file system can be written and the command runs as root, because it installs programs.
 * Nothing of the host is mounted there, and no secret is given.
 * What the command leaves among the project's files and the project ignores in commits (`node_modules`) is set aside in
 * the image, and given to each working copy (`laid-out.ts`).
 */
import { pipeline, Readable } from "node:stream";
import type Docker from "dockerode";
import { extract, type Pack, pack } from "tar-stream";
import type { Clock } from "../../../core/clock.ts";
import { unavailable } from "../../../core/errors.ts";
import type { CacheFolders, ExecResult, Sandbox, WayOut } from "../../../engine/sandbox.ts";
import type { ImageDetail } from "../../docker/images.ts";
import type { DockerClient } from "../../docker.ts";
import { relayBytes } from "../relay/program.ts";
import { sandboxOwner } from "../workspace-owner.ts";
import { MOUNT_POINT, type Owner } from "../workspace-path.ts";
import { linkCaches, openCaches, unlinkCaches } from "./caches.ts";
import { HOME, LABELS } from "./container-spec.ts";
import { execInContainer } from "./exec.ts";
import { LAID_OUT, LAY_OUT } from "./laid-out.ts";
import { CONTAINER_LIMITS, lockedDown, NO_NAMES_OUTSIDE, WAITING } from "./lock-down.ts";
import { createContainerRelay, RELAY_PATH } from "./relay.ts";
import { tarOf } from "./volume.ts";

interface SetUpsDeps {
  docker: DockerClient;
  instanceId: string;
  images: { find(name: string, signal?: AbortSignal): Promise<ImageDetail> };
  /** The user the server runs as. */
  server: Owner;
  clock: Clock;
}

interface Work {
  projectId: string;
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  memoryMb: number;
  cpus: number;
  /** The project's files as a tar, below `workspace/`. */
  source(): Readable;
  timeoutMs: number;
  maxOutputBytes: number;
  onOutput(text: string): void;
}

interface SetUpWork extends Work {
  /** Id of the image that the set-up begins with. */
  image: string;
  /** Name of the resulting image. */
  name: string;
  key: string;
  /** Folders of the project's files in which new entries are looked for. */
  folders: readonly string[];
  isLeftOut(path: string, isFolder: boolean): boolean;
  /** Most bytes that the command may write. */
  maxBytes: number;
  /** Folders of the home that are kept for the next set-up. Their content is not in the image. */
  caches?: CacheFolders | undefined;
  /** Opens the network access of the command; undefined when it has none. */
  wayOut?: ((sandbox: Pick<Sandbox, "exec" | "openRoute">) => Promise<WayOut>) | undefined;
}

interface CheckWork extends Work {
  image: string;
  /** Network of services that the command reaches by name. */
  network?: string | undefined;
}

export interface SetUpResult extends ExecResult {
  /** Whether it wrote more than it may. */
  tooLarge: boolean;
  /** Size of the image; undefined when the command failed. */
  sizeBytes?: number | undefined;
}

export type SetUps = ReturnType<typeof createSetUps>;

/**
 * Label of a container that is being set up; its value is the project. On an image made from it, the value is `IMAGE`.
 */
export const SETTING_UP = "skep.setting-up";
const IMAGE = "an-image";
const LAYER = "skep.layer";
/** Capabilities that installers need as root of their container, because package managers change owners and users. */
export const CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"];
const LOOK_MS = 5_000;
export const ROOT: Owner = { uid: 0, gid: 0 };
const STEP_MS = 600_000;
const LIST_BYTES = 4 * 1024 * 1024;

/** Script that lists the entries of folders, one per line with its kind. */
const LIST = `while IFS= read -r at; do
  for entry in "$at"* "$at".[!.]* "$at"..?*; do
    if [ -L "$entry" ]; then kind=l; elif [ -d "$entry" ]; then kind=d; elif [ -e "$entry" ]; then kind=f; else continue; fi
    printf '%s %s\\n' $kind "$entry"
  done
done`;

/**
 * Script that sets aside the paths in its input, and removes the project's files. $1 is the owner of what is set aside.
 */
const PUT_ASIDE = `set -e
mkdir -p ${LAID_OUT}/files; : > ${LAID_OUT}/names
while IFS= read -r path; do
  case "$path" in */*) mkdir -p "${LAID_OUT}/files/\${path%/*}" ;; esac
  mv -- "./$path" "${LAID_OUT}/files/$path"
  printf '%s\\n' "$path" >> ${LAID_OUT}/names
done
[ ! -s ${LAID_OUT}/names ] || command -v tar >/dev/null || { echo "the image has no tar, which puts these back: $(cat ${LAID_OUT}/names)"; exit 3; }
cd /; rm -rf ${MOUNT_POINT} ${RELAY_PATH}; mkdir ${MOUNT_POINT}
chown -R "$1" ${LAID_OUT} ${HOME}`;

interface Bounds extends Pick<SetUpWork, "maxBytes" | "wayOut"> {
  exec: Sandbox["exec"];
}

export type OpenBounds = Awaited<ReturnType<typeof openBounds>>;

/** Watches how much a command writes, and opens its network access, until both are closed. */
export async function openBounds({ containers }: DockerClient, id: string, { maxBytes, wayOut, exec }: Bounds) {
  const relay = createContainerRelay({ docker: { containers }, containerId: id, user: "0:0", program: RELAY_PATH });
  const tooLarge = new AbortController();
  const look = setInterval(() => {
    containers.writtenBytes(id).then(
      (bytes) => bytes > maxBytes && tooLarge.abort(),
      () => {},
    );
  }, LOOK_MS);
  let way: WayOut | undefined;
  const close = () => {
    clearInterval(look);
    way?.close();
    relay.end();
  };
  try {
    way = await wayOut?.({ exec, openRoute: relay.openRoute });
    return { env: way?.env, tooLarge: tooLarge.signal, endRelay: relay.end, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Labels of a layer's image, as lines of a Dockerfile. */
export const layerLabels = (instanceId: string, ownerId: string, key: string): string[] => [
  `LABEL ${SETTING_UP}=${IMAGE}`,
  `LABEL ${LAYER}="${ownerId} ${key}"`,
  `LABEL ${LABELS.instance}=${instanceId}`,
];

export const addRelay = (tar: Pack, arch: string) =>
  tar.entry({ name: RELAY_PATH.slice(1), mode: 0o555, uid: 0, gid: 0 }, relayBytes(arch));

export function createSetUps(deps: SetUpsDeps) {
  const { docker, instanceId } = deps;
  const listLabelled = async () => {
    const rows = await docker.containers.list([`${LABELS.instance}=${instanceId}`, SETTING_UP]);
    return rows.filter(({ labels }) => labels[SETTING_UP] !== IMAGE);
  };
  return {
    findImage: deps.images.find,
    /** Whether the image exists. */
    has: async (name: string): Promise<boolean> => (await docker.images.inspect(name)) !== undefined,
    make: (work: SetUpWork, signal: AbortSignal) => makeLayer(deps, work, signal),
    /**
     * Runs a command as an agent would: as the same user, with no network except that of services, and on the project's
     * files with those that the set-up left.
     */
    check: (work: CheckWork, signal: AbortSignal) => runCheck(deps, work, signal),
    async layers() {
      const rows = (await docker.images.list()).filter(
        ({ labels }) => labels[LABELS.instance] === instanceId && labels[LAYER] !== undefined,
      );
      return rows.map(({ id, tags, labels, sizeBytes }) => {
        const [projectId = ""] = (labels[LAYER] ?? "").split(" ");
        return { name: tags[0] ?? id, projectId, sizeBytes };
      });
    },
    remove: (name: string) => docker.images.remove(name),
    /** Removes containers that another process of this instance left. */
    async sweep(isLive: (projectId: string) => boolean): Promise<void> {
      const left = (await listLabelled()).filter(({ labels }) => !isLive(labels[SETTING_UP] ?? ""));
      await Promise.all(left.map(({ id }) => docker.containers.remove(id)));
    },
  };
}

async function makeLayer(deps: SetUpsDeps, work: SetUpWork, signal: AbortSignal): Promise<SetUpResult> {
  const { docker, instanceId } = deps;
  const engine = await docker.info();
  const owner = engine.rootless ? { uid: 0, gid: 0 } : sandboxOwner(deps.server);
  const how = { owner: ROOT, capabilities: CAPABILITIES, mounts: await cacheMounts(deps, work) };
  const id = await startContainer(deps, work, how, signal, (tar) => {
    if (work.wayOut) addRelay(tar, engine.arch);
  });
  let bounds: OpenBounds | undefined;
  try {
    const exec: Sandbox["exec"] = (argv, options) => execIn(deps, id, argv, options);
    await linkCaches(docker, id, work.caches);
    const { env, timeoutMs, maxOutputBytes, onOutput, maxBytes, wayOut } = work;
    bounds = await openBounds(docker, id, { maxBytes, wayOut, exec });
    const result = await exec(work.argv, {
      timeoutMs,
      maxOutputBytes,
      onOutput,
      env: { ...env, ...bounds.env },
      signal: AbortSignal.any([signal, bounds.tooLarge]),
    });
    signal.throwIfAborted();
    const isTooLarge = bounds.tooLarge.aborted || (await docker.containers.writtenBytes(id)) > maxBytes;
    if (isTooLarge || result.exitCode !== 0) return { ...result, tooLarge: isTooLarge };
    bounds.endRelay();
    await unlinkCaches(docker, id, work.caches);
    await putAside(deps, id, work, owner);
    signal.throwIfAborted();
    await docker.containers.kill(id);
    await docker.containers.commit(id, work.name, layerLabels(instanceId, work.projectId, work.key));
    const image = await docker.images.inspect(work.name);
    return { ...result, tooLarge: false, sizeBytes: image?.sizeBytes ?? 0 };
  } finally {
    bounds?.close();
    await docker.containers.remove(id);
  }
}

/** Mounts of the cache folders, which are created if the engine has none. */
async function cacheMounts({ docker, instanceId }: SetUpsDeps, { caches, image }: SetUpWork) {
  if (!caches) return [];
  const opened = await openCaches({ docker, instanceId, caches, imageId: image, owner: ROOT });
  await opened.make();
  return opened.mounts;
}

async function runCheck(deps: SetUpsDeps, work: CheckWork, signal: AbortSignal): Promise<ExecResult> {
  const { docker } = deps;
  const { rootless, engine } = await docker.info();
  const owner = rootless ? { uid: 0, gid: 0 } : sandboxOwner(deps.server);
  // An agent's home is empty, too. What the set-up left there helps no agent, so it must not help the check either.
  const home = `rw,nosuid,nodev,exec,size=${CONTAINER_LIMITS.homeBytes},mode=0700,uid=${owner.uid},gid=${owner.gid}`;
  // Podman cannot give a folder in memory to a user.
  const tmpfs: Record<string, string> = engine === "podman" ? {} : { [HOME]: home };
  const id = await startContainer(deps, work, { owner, capabilities: [], network: work.network, tmpfs }, signal);
  try {
    await layOut(deps, id);
    const { env, timeoutMs, maxOutputBytes, onOutput } = work;
    const options = { env, timeoutMs, maxOutputBytes, onOutput, signal };
    const result = await execIn(deps, id, work.argv, options);
    signal.throwIfAborted();
    return result;
  } finally {
    await docker.containers.remove(id);
  }
}

async function layOut(deps: SetUpsDeps, id: string): Promise<void> {
  await step(deps, id, ["sh", "-c", LAY_OUT, "sh"], "");
}

const execIn = ({ docker, clock }: SetUpsDeps, containerId: string, ...call: Parameters<Sandbox["exec"]>) =>
  execInContainer({ docker, containerId, clock, restart: () => docker.containers.kill(containerId) }, ...call);

interface Start {
  owner: Owner;
  capabilities: string[];
  network?: string | undefined;
  /** Folders in memory, by path, with their mount options. */
  tmpfs?: Readonly<Record<string, string>>;
  mounts?: Docker.MountSettings[];
}

/** Starts a container whose own root contains the project's files. If that fails, no container is left behind. */
async function startContainer(
  { docker, instanceId }: SetUpsDeps,
  { image, projectId, memoryMb, cpus, source }: Pick<SetUpWork, "image" | "projectId" | "memoryMb" | "cpus" | "source">,
  { owner, capabilities, network, tmpfs = {}, mounts = [] }: Start,
  signal: AbortSignal,
  addTo: (tar: Pack) => void = () => {},
): Promise<string> {
  const { volumes = [] } = (await docker.images.inspect(image)) ?? {};
  const imageVolumes = volumes.filter((path) => path !== HOME && path !== MOUNT_POINT);
  const locked = lockedDown({ memoryMb, cpus, network: network ?? "none", imageVolumes });
  signal.throwIfAborted();
  const request: Docker.ContainerCreateOptions = {
    Image: image,
    ...WAITING,
    User: `${owner.uid}:${owner.gid}`,
    WorkingDir: MOUNT_POINT,
    Hostname: "setup",
    Env: [`HOME=${HOME}`, "LANG=C.UTF-8"],
    Labels: { [LABELS.instance]: instanceId, [SETTING_UP]: projectId },
    HostConfig: {
      ...locked,
      ...(network === undefined ? {} : NO_NAMES_OUTSIDE),
      ReadonlyRootfs: false,
      Tmpfs: { ...locked.Tmpfs, ...tmpfs },
      CapAdd: capabilities,
      Mounts: [...(locked.Mounts ?? []), ...mounts],
    },
  };
  const id = await docker.containers.create(request);
  try {
    const folders = tarOf((tar) => {
      for (const path of [HOME, MOUNT_POINT])
        tar.entry({ name: path.slice(1), type: "directory", mode: 0o755, ...owner });
      addTo(tar);
    });
    await docker.containers.unpack(id, "/", folders);
    await docker.containers.unpack(id, "/", ownedBy(source(), owner));
    await docker.containers.start(id);
    signal.throwIfAborted();
    return id;
  } catch (error) {
    await docker.containers.remove(id).catch(() => {});
    throw error;
  }
}

/** Copies an archive with all entries changed to an owner. */
function ownedBy(source: Readable, { uid, gid }: Owner): Readable {
  const [reader, writer] = [extract(), pack()];
  reader.on("entry", (header, stream, next) => {
    const entry = writer.entry({ ...header, uid, gid, uname: "", gname: "" }, (error) => next(error));
    stream.pipe(entry);
  });
  const fail = (error: Error | null | undefined) => (error ? writer.destroy(error) : writer.finalize());
  pipeline(source, reader, fail);
  return Readable.from(writer);
}

async function putAside(deps: SetUpsDeps, id: string, work: SetUpWork, owner: Owner): Promise<void> {
  const listed = await step(deps, id, ["sh", "-c", LIST], work.folders.map((folder) => `${folder}\n`).join(""));
  const names = listed.split("\n").flatMap((line) => {
    const [kind, path] = [line.slice(0, 2), line.slice(2)];
    if (!/^[dfl] $/.test(kind) || path === "" || path === ".git" || /[\0-\x1f\x7f]/.test(path)) return [];
    return work.isLeftOut(path, kind === "d ") ? [path] : [];
  });
  const input = names.map((name) => `${name}\n`).join("");
  await step(deps, id, ["sh", "-c", PUT_ASIDE, "sh", `${owner.uid}:${owner.gid}`], input);
}

/** Runs a script of Skep's own. @throws Problem 503 `setup_not_kept`. */
async function step(deps: SetUpsDeps, id: string, argv: readonly string[], stdin: string): Promise<string> {
  const { exitCode, output, omittedBytes } = await execIn(deps, id, argv, {
    stdin,
    timeoutMs: STEP_MS,
    maxOutputBytes: LIST_BYTES,
  });
  if (exitCode === 0 && omittedBytes === 0) return output;
  throw notKept(
    omittedBytes > 0 ? "it made too many files to list" : output.trim().slice(-300) || `exit code ${exitCode}`,
  );
}

const notKept = (why: string) => unavailable("setup_not_kept", `What the set-up left could not be kept: ${why}.`);
