/**
 * Runs one set-up, from the project's files to an image and the result of its check. It may begin again at any point.
 */
import { createReadStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ImageDetail } from "../../adapter/docker/images.ts";
import type { BuildResult, ImageBuilds } from "../../adapter/sandbox/docker/image-build.ts";
import type { SetUpResult, SetUps } from "../../adapter/sandbox/docker/set-up.ts";
import { type Clock, toTimestamp } from "../../core/clock.ts";
import { codeOf, conflict, messageOf, Problem } from "../../core/errors.ts";
import type { RunningJob } from "../../core/jobs.ts";
import { hashJson } from "../../core/json-hash.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Masking } from "../../core/masking.ts";
import type { CacheFolders, ExecResult } from "../../engine/sandbox.ts";
import type { projectSetups } from "../../store/tables/setups.ts";
import type { Egress } from "../egress/service.ts";
import type { EnvironmentServicesService } from "../environment-services/service.ts";
import type { Project } from "../projects/model.ts";
import type { ProjectSource } from "../projects/source.ts";
import { type BuildDeps, type BuildWanted, buildImage, imagesOf } from "./build.ts";
import { logText } from "./log-text.ts";
import { besideOf, imageNameOf, keyOf, type Recipe, recipeOf } from "./recipe.ts";

export type SetupRow = typeof projectSetups.$inferSelect;

export interface SetUpDeps {
  clock: Clock;
  masking: Pick<Masking, "text">;
  /** Folder for the project's files on their way into the container. */
  folder: string;
  setUps: SetUps;
  builds: ImageBuilds;
  sources: BuildDeps["sources"] & { of(projectId: string): Promise<ProjectSource> };
  egress: Pick<Egress, "openTo">;
  services: Pick<EnvironmentServicesService, "beside">;
  cachesOf(projectId: string): CacheFolders | undefined;
  /** Splits a command line into its arguments. */
  argvOf(line: string): readonly string[];
  settings(): { memory_mb: number; cpus: number; runtime: string | null };
}

/** What to do, as it is when the work begins. */
interface Wanted {
  project: Pick<Project, "id" | "check">;
  recipe: Recipe;
  /** Hosts that the set-up may reach. */
  hosts: readonly string[];
  /** The stored row of that key. */
  findRow(key: string): SetupRow | undefined;
  again: boolean;
  /** Called as soon as the image exists or has failed for good. The check comes after that. */
  keep(row: SetupRow): void;
}

const TAIL_CHARACTERS = 4_000;

/** @returns the row to store. @throws Problem when the set-up cannot be made here. */
export async function setUpProject(deps: SetUpDeps, wanted: Wanted, job: RunningJob): Promise<SetupRow> {
  const { setUps, sources, folder } = deps;
  const { project, recipe, again } = wanted;
  const { runtime } = deps.settings();
  if (runtime !== null)
    throw conflict(
      `A set-up is not made with the container runtime ${runtime}, which keeps what is written to itself. Take \`sandbox.runtime\` out of the settings, or put what the code needs into the image.`,
      "setup_unsupported",
    );
  await setUps.sweep((id) => id !== project.id);
  job.report({ detail: `the image ${recipe.image}` });
  const images = await findImages(deps, recipe, job);
  const base = images.get(recipe.image) ?? (await setUps.findImage(recipe.image, job.signal));
  const source = await sources.of(project.id);
  const ids = [...images.values()].map(({ id }) => id);
  const key = keyOf(project.id, recipe, ids.length > 1 ? hashJson(ids) : base.id, source.locks);
  const known = wanted.findRow(key);
  const hasImage = known?.image ? await setUps.has(known.image) : known?.state === "ready";
  const isDone = known !== undefined && !again && (known.state === "failed" || hasImage);
  const isChecked = known?.check_command === project.check && known.check_beside === besideOf(recipe);
  if (isDone && (known.state === "failed" || isChecked)) return known;
  const file = join(folder, `${job.id}.tar`);
  await mkdir(dirname(file), { recursive: true });
  try {
    await sources.archive(project.id, source.commit, { to: file, prefix: "workspace/", signal: job.signal });
    const row = isDone ? known : await make(deps, wanted, { source, file, key, base, images }, job);
    if (!isDone) wanted.keep(row);
    if (row.state === "failed") return row;
    return { ...row, ...(await check(deps, wanted, { source, file, image: row.image ?? base.id }, job)) };
  } finally {
    await rm(file, { force: true });
  }
}

/** The images that the Dockerfile begins with or copies from; none without a Dockerfile. */
async function findImages({ setUps }: SetUpDeps, { build }: Recipe, job: RunningJob) {
  const images = new Map<string, ImageDetail>();
  for (const name of build ? imagesOf(build) : []) {
    job.report({ detail: `the image ${name}` });
    images.set(name, await setUps.findImage(name, job.signal));
  }
  return images;
}

interface At {
  source: ProjectSource;
  file: string;
}

async function make(
  deps: SetUpDeps,
  { project, recipe, hosts, again }: Wanted,
  { source, file, key, base, images }: At & { key: string; base: ImageDetail; images: BuildWanted["images"] },
  job: RunningJob,
): Promise<SetupRow> {
  const { clock, setUps } = deps;
  const made_at = toTimestamp(clock.now());
  const image = imageNameOf(key);
  const row = {
    project_id: project.id,
    key,
    recipe: recipeOf(recipe),
    commit_id: source.commit,
    made_at,
    used_at: made_at,
    ...NOT_CHECKED,
  };
  const denied = new Set<string>();
  const wayOut = wayOutOf(deps, hosts, denied);
  const { build } = recipe;
  const built = build && (await buildBase(deps, { project, build, images, source, file, again, wayOut }, job));
  const found = { ...row, ...(built ? foundIn(deps, built, base, deniedNotes(denied)) : NOTHING_BUILT) };
  if (recipe.setup === undefined || found.state === "failed") return found;
  const work = {
    projectId: project.id,
    argv: deps.argvOf(recipe.setup),
    env: recipe.env,
    ...readSizes(deps),
    ...createBounds(deps, file, job),
  };
  const result = await setUps.make(
    {
      ...work,
      image: built?.image?.id ?? base.id,
      name: image,
      key,
      folders: source.folders,
      isLeftOut: source.isLeftOut,
      maxBytes: LIMITS.setUpBytes,
      caches: deps.cachesOf(project.id),
      wayOut,
    },
    job.signal,
  );
  const notes = [...notesOf(result), ...deniedNotes(denied)];
  return {
    ...found,
    state: result.sizeBytes === undefined ? "failed" : "ready",
    image: result.sizeBytes === undefined ? null : image,
    image_bytes: result.sizeBytes ?? 0,
    exit_code: result.tooLarge ? null : result.exitCode,
    log: textOf(deps, result, notes),
    seconds: result.durationMs / 1_000,
  };
}

const NOT_CHECKED = {
  check_command: null,
  check_exit_code: null,
  check_log: null,
  check_commit: null,
  check_beside: null,
  checked_at: null,
};
type CheckMembers = Pick<SetupRow, keyof typeof NOT_CHECKED>;

async function check(
  deps: SetUpDeps,
  { project, recipe }: Wanted,
  { source, file, image }: At & { image: string },
  job: RunningJob,
): Promise<CheckMembers> {
  const [command, check_beside] = [project.check, besideOf(recipe)];
  if (command === null) return { ...NOT_CHECKED, check_beside };
  job.report({ detail: `check: ${command.slice(0, 200)}` });
  const work = {
    projectId: project.id,
    image,
    argv: deps.argvOf(command),
    env: recipe.env,
    ...readSizes(deps),
    ...createBounds(deps, file, job),
  };
  const buildCheck = (check_exit_code: number | null, check_log: string) => ({
    check_command: command,
    check_exit_code,
    check_log,
    check_commit: source.commit,
    check_beside,
    checked_at: toTimestamp(deps.clock.now()),
  });
  const services = await servicesFor(deps, project.id, job);
  if (typeof services === "string") return buildCheck(null, `[${services}]`);
  try {
    const beside = { network: services?.network, timeoutMs: LIMITS.checkMs };
    const result = await deps.setUps.check({ ...work, ...beside }, job.signal);
    return buildCheck(result.exitCode, textOf(deps, result, noteOf(result, LIMITS.checkMs)));
  } finally {
    await services?.close();
  }
}

/** Starts the services beside the check. @returns a sentence instead when they cannot run or do not become healthy. */
async function servicesFor({ services }: SetUpDeps, projectId: string, { signal }: RunningJob) {
  try {
    return await services.beside(`check-${projectId}`, projectId, undefined, signal);
  } catch (error) {
    const code = codeOf(error);
    if (code !== "service_failed" && code !== "services_unsupported") throw error;
    return messageOf(error);
  }
}

const TOO_LARGE = `It wrote more than ${LIMITS.setUpBytes / 1024 ** 3} GB`;

/**
 * Network access of containers that install something; undefined when no host is allowed. `denied` collects refused
 * hosts.
 */
const wayOutOf = ({ egress }: SetUpDeps, hosts: readonly string[], denied: Set<string>): BuildWanted["wayOut"] =>
  hosts.length === 0
    ? undefined
    : (sandbox) =>
        egress.openTo(sandbox, hosts, (host, port) => void (denied.size < 50 && denied.add(`${host}:${port}`)));

function buildBase(
  deps: SetUpDeps,
  {
    project,
    source,
    file,
    ...wanted
  }: At & Pick<Wanted, "project" | "again"> & Pick<BuildWanted, "build" | "images" | "wayOut">,
  job: RunningJob,
) {
  const { onOutput } = createBounds(deps, file, job);
  const work = { ...wanted, ...readSizes(deps), onOutput, projectId: project.id, head: source.commit };
  return buildImage(deps, { ...work, file: `${file}.build` }, job);
}

const NOTHING_BUILT = {
  state: "ready",
  steps: "[]",
  image: null,
  image_bytes: 0,
  exit_code: 0,
  log: "",
  seconds: 0,
} as const;

/** The result of a build, as fields of the row. */
function foundIn(deps: SetUpDeps, built: BuildResult, base: ImageDetail, notes: readonly string[]) {
  const { image, names } = built;
  return {
    state: image ? ("ready" as const) : ("failed" as const),
    steps: JSON.stringify(names),
    image: image ? (names.at(-1) ?? null) : null,
    image_bytes: image ? Math.max(0, image.sizeBytes - base.sizeBytes) : 0,
    exit_code: built.tooLarge ? null : built.exitCode,
    log: textOf(deps, built, [...notesOf(built), ...notes]),
    seconds: built.durationMs / 1_000,
  };
}

const notesOf = (result: Pick<SetUpResult, "timedOut" | "tooLarge">): string[] => [
  ...noteOf(result, LIMITS.setUpMs),
  ...(result.tooLarge ? [TOO_LARGE] : []),
];

const deniedNotes = (denied: ReadonlySet<string>): string[] =>
  denied.size > 0 ? [`It wanted to reach what the project does not allow: ${[...denied].join(", ")}`] : [];

const noteOf = ({ timedOut }: Pick<ExecResult, "timedOut">, ms: number): string[] =>
  timedOut ? [`It took longer than ${ms / 60_000} minutes`] : [];

const textOf = ({ masking }: SetUpDeps, { output }: Pick<ExecResult, "output">, notes: readonly string[]): string =>
  [logText(masking.text(output)).trimEnd(), ...notes.map((note) => `[${note}.]`)].filter(Boolean).join("\n");

function readSizes({ settings }: SetUpDeps): { memoryMb: number; cpus: number } {
  const { memory_mb, cpus } = settings();
  return { memoryMb: memory_mb, cpus };
}

function createBounds({ masking }: SetUpDeps, file: string, job: RunningJob) {
  let tail = "";
  return {
    source: () => createReadStream(file),
    timeoutMs: LIMITS.setUpMs,
    maxOutputBytes: LIMITS.setUpLogBytes,
    onOutput(text: string) {
      tail = (tail + text).slice(-TAIL_CHARACTERS);
      const log = logText(masking.text(tail));
      job.report({ detail: log.trimEnd().split("\n").at(-1)?.slice(0, 300), progress: { log } });
    },
  };
}

/** Fails the job when the set-up's command failed. @throws Problem 422 `setup_failed`. */
export function assertReady({ state, exit_code, log }: SetupRow): void {
  if (state === "ready") return;
  const last = log.trimEnd().split("\n").at(-1)?.slice(0, 300) ?? "";
  const why = exit_code === null ? "did not end" : `ended with exit code ${exit_code}`;
  throw new Problem(422, "setup_failed", `The set-up ${why}: ${last}`);
}
