/**
 * Images made of Dockerfiles, by a builder of our own: the engine's cannot be held to a list of hosts. Each `RUN` is a command in a
 * container that is locked down like a set-up's and may reach what its way out allows; each `COPY` unpacks files into a container
 * that never runs. What a step leaves is committed, and found again by everything that it depends on. Nothing of the host is
 * mounted, no secret is given, and what is committed are files and variables alone.
 */

import { Readable } from "node:stream";
import type Docker from "dockerode";
import { pack } from "tar-stream";
import type { Clock } from "../../../core/clock.ts";
import type { Selection } from "../../../core/dockerfile/context.ts";
import type { BaseImage, BuildPlan, BuildStep, CopyStep, RunStep } from "../../../core/dockerfile/plan.ts";
import { conflict, isProblem, messageOf } from "../../../core/errors.ts";
import { hashJson } from "../../../core/json-hash.ts";
import type { ExecResult, Sandbox, WayOut } from "../../../engine/sandbox.ts";
import type { ImageDetail } from "../../docker/images.ts";
import type { DockerClient } from "../../docker.ts";
import { relayBytes } from "../relay/program.ts";
import type { Owner } from "../workspace-path.ts";
import { LABELS } from "./container-spec.ts";
import { copyInto } from "./copy-step.ts";
import { execInContainer } from "./exec.ts";
import { lockedDown } from "./lock-down.ts";
import { createContainerRelay, RELAY_PATH } from "./relay.ts";
import { CAPABILITIES, IMAGE, LAYER, LOOK_MS, SETTING_UP } from "./set-up.ts";

export interface ImageBuildsDeps {
  docker: DockerClient;
  instanceId: string;
  clock: Clock;
}

export interface BuildWork {
  /** Whose layers these are: another's are never taken. */
  ownerId: string;
  base: ImageDetail;
  plan: BuildPlan;
  /** What each `COPY` takes. */
  selections: ReadonlyMap<CopyStep, Selection>;
  /** The files, as a tar, and where the context begins in it. */
  source(): Readable;
  prefix: string;
  /** Nothing is taken from an earlier build. */
  again: boolean;
  memoryMb: number;
  cpus: number;
  /** Of all steps. */
  timeoutMs: number;
  maxBytes: number;
  maxOutputBytes: number;
  /** A step begins, or was found done. */
  onStep(step: BuildStep, at: number, isKept: boolean): void;
  onOutput(text: string): void;
  /** Opens the way out of a step; undefined where it has none. */
  wayOut?: ((sandbox: Pick<Sandbox, "exec" | "openRoute">) => Promise<WayOut>) | undefined;
}

export interface BuildResult extends Pick<ExecResult, "output" | "exitCode" | "timedOut" | "durationMs"> {
  tooLarge: boolean;
  /** What was made; undefined when a step failed. */
  image: ImageDetail | undefined;
  /** Names of all images of it that there are, from the first step on. */
  names: string[];
}

export type ImageBuilds = ReturnType<typeof createImageBuilds>;

/** Beside what installers need: a step ends what it started. */
const BUILD_CAPABILITIES = [...CAPABILITIES, "KILL"];
const MIN_OUTPUT_BYTES = 4_096;
const ACCOUNT_BYTES = 256 * 1024;
const ACCOUNTS_MS = 60_000;

export function createImageBuilds(deps: ImageBuildsDeps) {
  return {
    baseOf,
    /** @throws Problem 409 `build_unsupported` where the engine is none that it was tried with. */
    async build(work: BuildWork, signal: AbortSignal): Promise<BuildResult> {
      const { engine } = await deps.docker.info();
      if (engine !== "docker")
        throw conflict(
          "A Dockerfile is not built with Podman. Build the image yourself, and name it as the environment's `image`.",
          "build_unsupported",
        );
      return await buildImage(deps, work, signal);
    },
  };
}

/** Of an image, as a Dockerfile that begins with it finds it. */
export const baseOf = ({ env, user, workdir }: ImageDetail): BaseImage => ({
  env: Object.fromEntries(env.map((entry) => [entry.split("=", 1)[0] ?? "", entry.slice(entry.indexOf("=") + 1)])),
  user,
  workdir: workdir === "" ? "/" : workdir,
});

/** Where no registry has one of this name. */
const nameOf = (key: string): string => `skep/build:${key.slice(0, 40)}`;

async function buildImage(deps: ImageBuildsDeps, work: BuildWork, signal: AbortSignal): Promise<BuildResult> {
  const { docker, clock } = deps;
  const { plan, selections, base } = work;
  const began = clock.monotonic();
  const done: BuildResult = {
    output: "",
    exitCode: 0,
    timedOut: false,
    durationMs: 0,
    tooLarge: false,
    image: undefined,
    names: [],
  };
  let key = hashJson({ form: 1, instance: deps.instanceId, owner: work.ownerId, base: base.id });
  let from = base;
  for (const [at, step] of plan.steps.entries()) {
    signal.throwIfAborted();
    key = hashJson({ before: key, step: dependencies(step, selections) });
    const name = nameOf(key);
    const kept = work.again ? undefined : await docker.images.inspect(name);
    work.onStep(step, at, kept !== undefined);
    done.output += `${at + 1}/${plan.steps.length} line ${step.line}: ${step.text}${kept ? " (kept)" : ""}\n`;
    if (kept) {
      done.names.push(name);
      from = kept;
      continue;
    }
    const left = work.timeoutMs - (clock.monotonic() - began);
    const rest = { ...work, timeoutMs: left, maxBytes: work.maxBytes - (from.sizeBytes - base.sizeBytes) };
    const result = await performStep(deps, rest, { step, from, name, key }, done, signal);
    done.durationMs = clock.monotonic() - began;
    if (result === undefined) return done;
    done.names.push(name);
    from = result;
  }
  signal.throwIfAborted();
  const last: At = { step: undefined, from, name: nameOf(hashJson({ before: key, env: plan.env })), key };
  const id = await createContainer(deps, work, last);
  try {
    done.image = await keep(deps, work, last, id);
  } finally {
    await docker.containers.remove(id);
  }
  done.names.push(last.name);
  done.durationMs = clock.monotonic() - began;
  return done;
}

/** All that what a step leaves depends on, beside what it began with. */
function dependencies(step: BuildStep, selections: BuildWork["selections"]): unknown {
  const { env, workdir, user } = step;
  if (step.kind === "run") return { env, workdir, user, argv: step.argv, args: step.args };
  const { files = [], isOne = false } = selections.get(step) ?? {};
  const { to, chown = null, mode = null } = step;
  return { env, workdir, to, chown, mode, isOne, files: files.map(({ below, kind, oid }) => [below, kind, oid]) };
}

interface At {
  /** Undefined: the last, which sets variables alone. */
  step: BuildStep | undefined;
  from: ImageDetail;
  name: string;
  key: string;
}

/** @returns what it left; undefined when it failed, which `done` then says. */
async function performStep(
  deps: ImageBuildsDeps,
  work: BuildWork,
  at: At & { step: BuildStep },
  done: BuildResult,
  signal: AbortSignal,
): Promise<ImageDetail | undefined> {
  const { docker } = deps;
  const { step } = at;
  const owner = step.kind === "copy" ? await ownerOf(deps, work, at, step, signal) : ROOT;
  if (typeof owner === "string") return void fail(done, owner);
  const id = await createContainer(deps, work, at);
  try {
    if (step.kind === "run") {
      if (!(await runStep(deps, work, { ...at, step, id }, done, signal))) return undefined;
    } else {
      const selection = work.selections.get(step) ?? { files: [], isOne: false };
      const { source, prefix } = work;
      await copyInto(docker.containers, id, { step, selection, owner, source, prefix });
    }
    signal.throwIfAborted();
    if ((await docker.containers.writtenBytes(id)) > work.maxBytes) {
      done.tooLarge = true;
      return undefined;
    }
    return await keep(deps, work, at, id);
  } finally {
    await docker.containers.remove(id);
  }
}

function fail(done: BuildResult, why: string): void {
  done.exitCode = 1;
  done.output += `${why}\n`;
}

/** @returns whether it ended well; `done` has its output. */
async function runStep(
  deps: ImageBuildsDeps,
  work: BuildWork,
  { step, id }: { step: RunStep; id: string },
  done: BuildResult,
  signal: AbortSignal,
): Promise<boolean> {
  const { docker } = deps;
  const relay = createContainerRelay({ docker, containerId: id, user: "0:0", program: RELAY_PATH });
  const tooLarge = new AbortController();
  const look = setInterval(() => {
    docker.containers.writtenBytes(id).then(
      (bytes) => bytes > work.maxBytes && tooLarge.abort(),
      () => {},
    );
  }, LOOK_MS);
  let wayOut: WayOut | undefined;
  try {
    await docker.containers.start(id);
    const exec: Sandbox["exec"] = (argv, options) => execAs(deps, id, undefined, argv, options);
    wayOut = await work.wayOut?.({ exec, openRoute: relay.openRoute });
    const result = await execAs(deps, id, step.user, step.argv, {
      cwd: step.workdir,
      env: { ...step.args, ...wayOut?.env },
      timeoutMs: Math.max(1, work.timeoutMs),
      maxOutputBytes: Math.max(MIN_OUTPUT_BYTES, work.maxOutputBytes - done.output.length),
      onOutput: work.onOutput,
      signal: AbortSignal.any([signal, tooLarge.signal]),
    });
    signal.throwIfAborted();
    done.output += result.output === "" || result.output.endsWith("\n") ? result.output : `${result.output}\n`;
    done.exitCode = result.exitCode;
    done.timedOut = result.timedOut;
    done.tooLarge = tooLarge.signal.aborted;
    if (done.tooLarge || result.exitCode !== 0) return false;
    relay.end();
    if (wayOut) await exec(["rm", "-f", RELAY_PATH], { timeoutMs: ACCOUNTS_MS, maxOutputBytes: MIN_OUTPUT_BYTES });
    await docker.containers.kill(id);
    return true;
  } catch (error) {
    // Such as a user that the image does not have.
    if (!isProblem(error) || error.code !== "docker_error" || signal.aborted) throw error;
    fail(done, messageOf(error));
    return false;
  } finally {
    clearInterval(look);
    wayOut?.close();
    relay.end();
  }
}

const isRoot = (user: string): boolean => /^(?:root|0)(?::(?:root|0))?$/.test(user);

const execAs = (
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

async function createContainer({ docker, instanceId }: ImageBuildsDeps, work: BuildWork, at: At): Promise<string> {
  const { step, from } = at;
  const { env, workdir } = step ?? work.plan;
  const locked = lockedDown({
    memoryMb: work.memoryMb,
    cpus: work.cpus,
    network: "none",
    imageVolumes: from.volumes.filter((path) => path !== "/"),
  });
  const id = await docker.containers.create({
    Image: from.id,
    Entrypoint: ["/bin/sh", "-c", 'trap "" HUP INT TERM; read -r _'],
    Cmd: [],
    User: "0:0",
    // The engine makes it where the image has none.
    WorkingDir: workdir,
    Hostname: "build",
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    Labels: { [LABELS.instance]: instanceId, [SETTING_UP]: work.ownerId },
    OpenStdin: true,
    StdinOnce: false,
    Tty: false,
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      ...locked,
      ReadonlyRootfs: false,
      // What a step puts into /tmp is there for the next one.
      Tmpfs: {},
      CapAdd: BUILD_CAPABILITIES,
      LogConfig: { Type: "json-file", Config: { "max-size": "1m", "max-file": "1" } },
    },
  } satisfies Docker.ContainerCreateOptions);
  if (step?.kind !== "run" || !work.wayOut) return id;
  try {
    const { arch } = await docker.info();
    const tar = pack();
    tar.entry({ name: RELAY_PATH.slice(1), mode: 0o555, uid: 0, gid: 0 }, relayBytes(arch));
    tar.finalize();
    await docker.containers.unpack(id, "/", Readable.from(tar));
    return id;
  } catch (error) {
    await docker.containers.remove(id).catch(() => {});
    throw error;
  }
}

/** Makes an image of what is in the container, under the step's name. */
async function keep({ docker, instanceId }: ImageBuildsDeps, work: BuildWork, { name, key }: At, id: string) {
  const labels = [`${SETTING_UP}=${IMAGE}`, `${LAYER}="${work.ownerId} ${key}"`, `${LABELS.instance}=${instanceId}`];
  const made = await docker.containers.commit(
    id,
    name,
    labels.map((label) => `LABEL ${label}`),
  );
  const image = await docker.images.inspect(made);
  if (!image) throw conflict("What a step of the build left is gone already. Begin it again.", "build_lost");
  return image;
}

const ROOT: Owner = { uid: 0, gid: 0 };

/** Whom copied files belong to. @returns a sentence where the image does not know them. */
async function ownerOf(
  deps: ImageBuildsDeps,
  work: BuildWork,
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
async function readAccounts(deps: ImageBuildsDeps, work: BuildWork, at: At, signal: AbortSignal) {
  const { containers } = deps.docker;
  const id = await createContainer(deps, work, { ...at, step: undefined });
  try {
    await containers.start(id);
    const read = async (path: string) => {
      const options = { cwd: "/", timeoutMs: ACCOUNTS_MS, maxOutputBytes: ACCOUNT_BYTES, signal };
      const { exitCode, output } = await execAs(deps, id, undefined, ["cat", path], options);
      return accountsIn(exitCode === 0 ? output : "");
    };
    return { users: await read("/etc/passwd"), groups: await read("/etc/group") };
  } finally {
    await containers.remove(id);
  }
}

/** Lines of `/etc/passwd` and `/etc/group`: a name, and its number in the third place. */
function accountsIn(text: string): Map<string, number> {
  const rows = text.split("\n").map((line): [string, number | undefined] => {
    const [name = "", , number = ""] = line.split(":");
    return [name, numberIn(number)];
  });
  return new Map(rows.filter((row): row is [string, number] => row[1] !== undefined));
}
