/**
 * Builds images from Dockerfiles with a builder of Skep's own, because the engine's builder cannot be limited to a list
 * of hosts.
 * Each `RUN` is a command in a container that is restricted like a set-up's, and reaches only what its way out allows.
 * Each `COPY` unpacks files into a container that never runs.
 * The result of a step is committed, and reused when everything it depends on is the same. Nothing of the host is
 * mounted, no secret is given, and only files and variables are committed.
 */

import type { Readable } from "node:stream";
import type { Selection } from "../../../core/dockerfile/context.ts";
import type { BaseImage, BuildPlan, BuildStep, CopyStep, Origin, RunStep } from "../../../core/dockerfile/plan.ts";
import { conflict, isProblem, messageOf } from "../../../core/errors.ts";
import { hashJson } from "../../../core/json-hash.ts";
import type { ExecResult, Sandbox, WayOut } from "../../../engine/sandbox.ts";
import type { ImageDetail } from "../../docker/images.ts";
import type { Owner } from "../workspace-path.ts";
import {
  ACCOUNTS_MS,
  type At,
  type ContainerWork,
  execAs,
  type ImageBuildsDeps,
  keep,
  NOWHERE,
  ownerOf,
  withContainer,
} from "./build-container.ts";
import { copyInto } from "./copy-step.ts";
import { RELAY_PATH } from "./relay.ts";
import { type OpenBounds, openBounds, ROOT } from "./set-up.ts";
import { copyFromImage, StageCopyFault } from "./stage-copy.ts";

export interface BuildWork extends ContainerWork {
  /** All images that the plan names, by name. */
  images: ReadonlyMap<string, ImageDetail>;
  plan: BuildPlan;
  /** The files that each `COPY` takes. */
  selections: ReadonlyMap<CopyStep, Selection>;
  /** The files as a tar, and the prefix of the build context in it. */
  source(): Readable;
  prefix: string;
  /** Whether to ignore results of earlier builds. */
  again: boolean;
  /** Time limit of all steps together. */
  timeoutMs: number;
  maxBytes: number;
  maxOutputBytes: number;
  /** Called when a step begins, or its result was found. */
  onStep(step: BuildStep, at: number, isKept: boolean): void;
  onOutput(text: string): void;
  /** Opens the network access of a step; undefined when the build has none. */
  wayOut?: ((sandbox: Pick<Sandbox, "exec" | "openRoute">) => Promise<WayOut>) | undefined;
}

export interface BuildResult extends Pick<ExecResult, "output" | "exitCode" | "timedOut" | "durationMs"> {
  tooLarge: boolean;
  /** The built image; undefined when a step failed. */
  image: ImageDetail | undefined;
  /** Names of all images of this build that exist, from the first step on. */
  names: string[];
}

export type ImageBuilds = ReturnType<typeof createImageBuilds>;

const MIN_OUTPUT_BYTES = 4_096;

export function createImageBuilds(deps: ImageBuildsDeps) {
  return {
    baseOf,
    /**
     * Builds an image. @throws Problem 409 `build_unsupported` when the engine is not one that builds were tested with.
     */
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

/** The state of an image in which a Dockerfile begins. */
export const baseOf = ({ env, user, workdir }: ImageDetail): BaseImage => ({
  env: Object.fromEntries(env.map((entry) => [entry.split("=", 1)[0] ?? "", entry.slice(entry.indexOf("=") + 1)])),
  user,
  workdir: workdir === "" ? "/" : workdir,
});

/** Name of a step's image, in a namespace that is never pulled from a registry. */
const nameOf = (key: string): string => `skep/build:${key.slice(0, 40)}`;

async function buildImage(deps: ImageBuildsDeps, work: BuildWork, signal: AbortSignal): Promise<BuildResult> {
  const { docker, clock } = deps;
  const { plan, selections } = work;
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
  const stages: StageEnd[] = [];
  let at = 0;
  let spent = 0;
  for (const [number, stage] of plan.stages.entries()) {
    if (!stage.isNeeded) continue;
    let { from, key } = originOf(deps, work, stages, stage.from);
    const first = from.sizeBytes;
    for (const step of stage.steps) {
      signal.throwIfAborted();
      const source = step.kind === "copy" && step.from ? originOf(deps, work, stages, step.from) : undefined;
      key = hashJson({ before: key, step: collectDependencies(step, selections, source?.key) });
      const name = nameOf(key);
      const kept = work.again ? undefined : await docker.images.inspect(name);
      work.onStep(step, at, kept !== undefined);
      done.output += `${++at}/${plan.steps.length} line ${step.line}: ${step.text}${kept ? " (kept)" : ""}\n`;
      if (kept) {
        done.names.push(name);
        from = kept;
        continue;
      }
      const left = work.timeoutMs - (clock.monotonic() - began);
      const rest = { ...work, timeoutMs: left, maxBytes: work.maxBytes - spent - (from.sizeBytes - first) };
      const build = { deps, work: rest, done, signal };
      const result = await performStep(build, { step, from, place: step, source, name, key });
      done.durationMs = clock.monotonic() - began;
      if (result === undefined) return done;
      done.names.push(name);
      from = result;
    }
    spent += Math.max(0, from.sizeBytes - first);
    stages[number] = { from, key };
  }
  signal.throwIfAborted();
  const { from, key } = originOf(deps, work, stages, { stage: plan.stages.length - 1 });
  const last = { from, place: plan, name: nameOf(hashJson({ before: key, env: plan.env })), key };
  done.image = await withContainer(deps, work, last, (id) => keep(deps, work, last, id));
  done.names.push(last.name);
  done.durationMs = clock.monotonic() - began;
  return done;
}

/** The image at the end of a stage, and the key of everything it depends on. */
interface StageEnd {
  from: ImageDetail;
  key: string;
}

function originOf(
  { instanceId }: ImageBuildsDeps,
  { ownerId, images }: BuildWork,
  stages: readonly StageEnd[],
  origin: Origin,
): StageEnd {
  if ("stage" in origin) {
    const end = stages[origin.stage];
    if (!end) throw new Error(`stage ${origin.stage} was not built`);
    return end;
  }
  const from = images.get(origin.image);
  if (!from) throw new Error(`the image ${origin.image} was not looked for`);
  return { from, key: hashJson({ form: 1, instance: instanceId, owner: ownerId, base: from.id }) };
}

/** Everything that the result of a step depends on, besides the image it begins with. */
function collectDependencies(
  step: BuildStep,
  selections: BuildWork["selections"],
  source: string | undefined,
): unknown {
  const { env, workdir, user } = step;
  if (step.kind === "run") return { env, workdir, user, argv: step.argv, args: step.args };
  const { to, chown = null, mode = null } = step;
  if (source !== undefined) return { env, workdir, to, chown, mode, source, sources: step.sources };
  const { files = [], isOne = false } = selections.get(step) ?? {};
  return { env, workdir, to, chown, mode, isOne, files: files.map(({ below, kind, oid }) => [below, kind, oid]) };
}

interface StepAt extends At {
  step: BuildStep;
  /** The stage or image that is copied from; undefined for files of the context, or for other steps. */
  source: StageEnd | undefined;
  name: string;
  key: string;
}

/** The state of a running build. */
interface Build {
  deps: ImageBuildsDeps;
  work: BuildWork;
  done: BuildResult;
  signal: AbortSignal;
}

/** Performs a step. @returns its image; undefined when it failed, as `done` then tells. */
async function performStep(build: Build, at: StepAt): Promise<ImageDetail | undefined> {
  const { deps, work, done, signal } = build;
  const { docker } = deps;
  const { step } = at;
  const owner = step.kind === "copy" ? await ownerOf(deps, work, at, step, signal) : ROOT;
  if (typeof owner === "string") return void fail(done, owner);
  return await withContainer(deps, work, at, async (id) => {
    if (step.kind === "run") {
      if (!(await runStep(build, step, id))) return undefined;
    } else if (at.source) {
      if (!(await copyStage(build, { id, step, owner, from: at.source.from }))) return undefined;
    } else {
      const selection = work.selections.get(step) ?? { files: [], isOne: false };
      const { source, prefix } = work;
      await copyInto(docker.containers, id, { step, selection, owner, source, prefix });
    }
    signal.throwIfAborted();
    done.tooLarge = (await docker.containers.writtenBytes(id)) > work.maxBytes;
    return done.tooLarge ? undefined : await keep(deps, work, at, id);
  });
}

/** Copies files from another stage. @returns whether it succeeded; `done` tells why not. */
async function copyStage(
  { deps, work, done, signal }: Build,
  { id, step, owner, from }: { id: string; step: CopyStep; owner: Owner; from: ImageDetail },
): Promise<boolean> {
  const { maxBytes } = work;
  return await withContainer(deps, work, { from, place: NOWHERE }, async (source) => {
    try {
      done.tooLarge = !(await copyFromImage(deps.docker.containers, id, { step, owner, source, maxBytes, signal }));
      return !done.tooLarge;
    } catch (error) {
      if (!(error instanceof StageCopyFault)) throw error;
      fail(done, error.message);
      return false;
    }
  });
}

function fail(done: BuildResult, why: string): void {
  done.exitCode = 1;
  done.output += `${why}\n`;
}

/** Runs a command. @returns whether it succeeded; `done` has its output. */
async function runStep({ deps, work, done, signal }: Build, step: RunStep, id: string): Promise<boolean> {
  const { docker } = deps;
  const { maxBytes, wayOut } = work;
  let bounds: OpenBounds | undefined;
  try {
    await docker.containers.start(id);
    const exec: Sandbox["exec"] = (argv, options) => execAs(deps, id, undefined, argv, options);
    bounds = await openBounds(docker, id, { maxBytes, wayOut, exec });
    const result = await execAs(deps, id, step.user, step.argv, {
      cwd: step.workdir,
      env: { ...step.args, ...bounds.env },
      timeoutMs: Math.max(1, work.timeoutMs),
      maxOutputBytes: Math.max(MIN_OUTPUT_BYTES, work.maxOutputBytes - done.output.length),
      onOutput: work.onOutput,
      signal: AbortSignal.any([signal, bounds.tooLarge]),
    });
    signal.throwIfAborted();
    done.output += result.output === "" || result.output.endsWith("\n") ? result.output : `${result.output}\n`;
    done.exitCode = result.exitCode;
    done.timedOut = result.timedOut;
    done.tooLarge = bounds.tooLarge.aborted;
    if (done.tooLarge || result.exitCode !== 0) return false;
    bounds.endRelay();
    if (wayOut) await exec(["rm", "-f", RELAY_PATH], { timeoutMs: ACCOUNTS_MS, maxOutputBytes: MIN_OUTPUT_BYTES });
    await docker.containers.kill(id);
    return true;
  } catch (error) {
    // For example, the image does not have the user.
    if (!isProblem(error) || error.code !== "docker_error" || signal.aborted) throw error;
    fail(done, messageOf(error));
    return false;
  } finally {
    bounds?.close();
  }
}
