/** Builds the image of an environment whose Dockerfile was accepted, from exactly the accepted text and files. */
import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { ImageDetail } from "../../adapter/docker/images.ts";
import type { BuildResult, ImageBuilds } from "../../adapter/sandbox/docker/image-build.ts";
import { digestOf, type Selection, selectFiles } from "../../core/dockerfile/context.ts";
import { DockerfileFault } from "../../core/dockerfile/lines.ts";
import { type BaseImage, type BuildPlan, type CopyStep, NO_BASE, planBuild } from "../../core/dockerfile/plan.ts";
import { conflict, isProblem, Problem } from "../../core/errors.ts";
import type { RunningJob } from "../../core/jobs.ts";
import { LIMITS } from "../../core/limits.ts";
import type { AcceptedDockerfile, EnvironmentBuild } from "../environments/model.ts";
import type { BuildContext, ContextPlace } from "../projects/build-context.ts";

/** What the image is built from. */
export interface Build extends EnvironmentBuild, Pick<AcceptedDockerfile, "text" | "digest" | "commit"> {}

export interface BuildDeps {
  builds: ImageBuilds;
  sources: {
    context(projectId: string, commit: string, place: ContextPlace): Promise<BuildContext>;
    archive(projectId: string, commit: string, how: { to: string; prefix: string; signal: AbortSignal }): Promise<void>;
  };
}

export interface BuildWanted {
  projectId: string;
  build: Build;
  /** All images that the Dockerfile begins with or copies from, by name. */
  images: ReadonlyMap<string, ImageDetail>;
  /** Head of the project's branch. It is tried first, because the files are usually unchanged there. */
  head: string;
  /** Path of a temporary archive of the build's files. */
  file: string;
  again: boolean;
  memoryMb: number;
  cpus: number;
  onOutput(text: string): void;
  wayOut: Parameters<ImageBuilds["build"]>[0]["wayOut"];
}

/** @throws Problem 409 `build_files_changed`, `build_unsupported`, 413, and problems of the engine. */
export async function buildImage(
  { builds, sources }: BuildDeps,
  { projectId, build, images, head, file, ...work }: BuildWanted,
  job: RunningJob,
): Promise<BuildResult> {
  const { plan, selections, commit, prefix } = await findFiles(
    sources,
    projectId,
    planAgain(build, (name) => baseIn(builds, images, name)),
    build,
    head,
  );
  try {
    if (selections.size > 0) await sources.archive(projectId, commit, { to: file, prefix: TOP, signal: job.signal });
    return await builds.build(
      {
        ...work,
        ownerId: projectId,
        images,
        plan,
        selections,
        source: () => createReadStream(file),
        prefix: `${TOP}${prefix}`,
        timeoutMs: LIMITS.setUpMs,
        maxBytes: LIMITS.setUpBytes,
        maxOutputBytes: LIMITS.setUpLogBytes,
        onStep: ({ line, text }, at, isKept) => {
          const which = `step ${at + 1} of ${plan.steps.length}, line ${line}`;
          job.report({ detail: `${which}${isKept ? " (kept from before)" : ""}: ${text}` });
        },
      },
      job.signal,
    );
  } finally {
    await rm(file, { force: true });
  }
}

const TOP = "workspace/";

interface Found {
  plan: BuildPlan;
  selections: Map<CopyStep, Selection>;
  commit: string;
  prefix: string;
}

/** Finds the accepted files: on the branch as it is now, else at the commit that was accepted. */
async function findFiles(
  sources: BuildDeps["sources"],
  projectId: string,
  plan: BuildPlan,
  build: Build,
  head: string,
): Promise<Found> {
  for (const commit of new Set([head, build.commit])) {
    const found = await filesAt(sources, projectId, plan, build, commit);
    if (found) return found;
  }
  throw conflict(
    "The files that the accepted Dockerfile copies are not in the repository any more. Look at what it proposes now, and accept it.",
    "build_files_changed",
  );
}

/** Names of all images that the build needs. @throws Problem 422. */
export const imagesOf = (build: Build): string[] => planAgain(build).images;

function baseIn({ baseOf }: ImageBuilds, images: BuildWanted["images"], name: string): BaseImage {
  const image = images.get(name);
  // The stage's image is unknown because nothing is taken from that stage.
  return image ? baseOf(image) : NO_BASE;
}

/**
 * Plans the build again. When it was accepted, the settings inside its base images were not known.
 * @throws Problem 422.
 */
function planAgain({ text, args, dockerfile }: Build, baseOf?: (image: string) => BaseImage): BuildPlan {
  try {
    return planBuild(text, args, baseOf);
  } catch (error) {
    if (!(error instanceof DockerfileFault)) throw error;
    throw new Problem(422, "dockerfile_refused", `${dockerfile}, line ${error.line}: ${error.reason}`);
  }
}

/**
 * The files that the plan copies from a commit; undefined when they differ from the accepted ones. The Dockerfile's
 * text is always the accepted one.
 */
async function filesAt(
  sources: BuildDeps["sources"],
  projectId: string,
  plan: BuildPlan,
  build: Build,
  commit: string,
): Promise<Found | undefined> {
  if (!plan.steps.some((step) => step.kind === "copy" && step.from === undefined))
    return { plan, selections: new Map(), commit, prefix: "" };
  try {
    const { files, isIgnored, prefix } = await sources.context(projectId, commit, build);
    const selections = await selectFiles(files, plan.steps, isIgnored);
    return digestOf(selections.values()).digest === build.digest ? { plan, selections, commit, prefix } : undefined;
  } catch (error) {
    // A file is missing at that commit, or the commit is gone.
    if (error instanceof DockerfileFault || isProblem(error)) return undefined;
    throw error;
  }
}
