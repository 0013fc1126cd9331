/**
 * `task.toml` in Harbor's format, up to its version 1.4 (https://www.harborframework.com/docs/tasks). Every setting is
 * applied, has no effect here, or is refused with what to do. Silently ignoring a setting would give a score for
 * another task than its author meant.
 */
import { type Static, Type as t } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { DAY_SECONDS } from "../../core/clock.ts";
import { messageOf, Problem } from "../../core/errors.ts";
import { isObject } from "../../core/is-object.ts";

const Seconds = (maximum: number) => t.Optional(t.Number({ exclusiveMinimum: 0, maximum }));

/** Harbor's older notation of memory sizes. */
const SIZE = /^(\d{1,7})(\.\d{1,3})?([KMG])$/i;
const MIB_OF: Readonly<Record<string, number>> = { K: 1 / 1_024, M: 1, G: 1_024 };

/** Memory that the task needs, in MiB. */
export function memoryOf({ environment }: Settings): number | undefined {
  const { memory_mb, memory = "" } = environment ?? {};
  const [, whole = "", part = "", unit = ""] = SIZE.exec(memory) ?? [];
  return memory_mb ?? (whole === "" ? undefined : Math.ceil(Number(whole + part) * MIB_OF[unit.toUpperCase()]!));
}

const Settings = t.Object({
  agent: t.Optional(t.Object({ timeout_sec: Seconds(7 * DAY_SECONDS) })),
  verifier: t.Optional(t.Object({ timeout_sec: Seconds(DAY_SECONDS) })),
  environment: t.Optional(
    t.Object({
      cpus: t.Optional(t.Number({ exclusiveMinimum: 0, maximum: 256 })),
      memory_mb: t.Optional(t.Integer({ minimum: 1, maximum: 1_048_576 })),
      memory: t.Optional(t.String({ pattern: SIZE.source })),
    }),
  ),
  skep: t.Optional(
    t.Object({
      budget_usd: t.Optional(t.Number({ minimum: 0, maximum: 100_000 })),
      project: t.Optional(t.String({ minLength: 1 })),
      commit: t.Optional(t.String({ pattern: "^[0-9a-f]{40}$" })),
      reward: t.Optional(t.Boolean()),
    }),
  ),
});
type Settings = Static<typeof Settings>;

/**
 * What happens to a setting: it is applied (`taken`), has no effect on an attempt (`same`), or is refused by a function
 * that says what to do.
 */
type Fate = "taken" | "same" | ((value: unknown) => string | undefined);

const refuse =
  (advice: string): Fate =>
  () =>
    advice;
const acceptOnly =
  (expected: unknown, advice: string): Fate =>
  (value) =>
    value === expected ? undefined : advice;
const noneOf = (advice: string): Fate => acceptOnly(0, advice);
/** Accepts an empty list or table, which asks for nothing. */
const acceptEmpty =
  (advice: string): Fate =>
  (value) =>
    typeof value === "object" && value !== null && Object.keys(value).length === 0 ? undefined : advice;

const ONE_USER = "Sandboxes have one user. Remove the line if the task works without it.";
const NETWORK =
  "An agent's own file says what it reaches (network:), and tests and solutions run with the network of the settings. Set it there and remove the line.";
const VARIABLES = "Variables are not passed. Write them into the script, and remove the table.";
const MULTI_STEP =
  "A task here is one instruction with one check. Make each step a task of its own, or leave the task out.";

/** Settings by section; "" is the top level. `*` stands for any other name. */
const FATES: Readonly<Record<string, Readonly<Record<string, Fate>>>> = {
  "": {
    version: "taken",
    schema_version: "taken",
    source: "same",
    metadata: "same",
    task: "same",
    agent: "taken",
    verifier: "taken",
    environment: "taken",
    solution: "taken",
    skep: "taken",
    steps: acceptEmpty(MULTI_STEP),
    multi_step_reward_strategy: refuse(MULTI_STEP),
    artifacts: acceptEmpty("No files are collected. Let test.sh read them from the workspace, and remove the setting."),
  },
  agent: {
    timeout_sec: "taken",
    user: refuse(ONE_USER),
    network_mode: refuse(NETWORK),
    allowed_hosts: acceptEmpty(NETWORK),
  },
  verifier: {
    timeout_sec: "taken",
    env: acceptEmpty(VARIABLES),
    user: refuse(ONE_USER),
    network_mode: refuse(NETWORK),
    allowed_hosts: acceptEmpty(NETWORK),
    environment_mode: acceptOnly(
      "shared",
      "Tests run in the agent's workspace, in a sandbox of their own. Remove the line.",
    ),
    environment: acceptEmpty("Tests run in the image of the settings. Remove the table if they work there."),
  },
  solution: { env: acceptEmpty(VARIABLES) },
  environment: {
    build_timeout_sec: "same",
    docker_image: (value) =>
      `Agents work in their own image. Remove the line and give the agent the image ${String(value)}.`,
    os: acceptOnly("linux", "Sandboxes are Linux."),
    cpus: "taken",
    memory_mb: "taken",
    memory: "taken",
    // The disk of a sandbox has no size limit of its own.
    storage_mb: "same",
    storage: "same",
    gpus: noneOf("Sandboxes have no GPU. Leave the task out."),
    gpu_types: acceptEmpty("Sandboxes have no GPU. Leave the task out."),
    tpu: refuse("Sandboxes have no TPU."),
    allow_internet: acceptOnly(true, NETWORK),
    network_mode: acceptOnly("public", NETWORK),
    allowed_hosts: acceptEmpty(NETWORK),
    env: acceptEmpty("Variables are not passed to the agent's sandbox. Say in instruction.md what it must know."),
    mcp_servers: acceptEmpty("Give the agent its tool servers in its own file, and remove the setting."),
    skills_dir: refuse("Give the agent its skills in its own file, and remove the line."),
    healthcheck: refuse("Nothing waits for a service. Let instruction.md or test.sh start what is needed."),
    workdir: refuse("Agents work in their workspace, where the files of environment/ are. Remove the line."),
  },
  skep: { budget_usd: "taken", project: "taken", commit: "taken", reward: "taken" },
};
const SECTIONS = ["agent", "verifier", "solution", "environment", "skep"] as const;
const VERSIONS = /^1\.\d{1,3}$/;

export const badTask = (detail: string) => new Problem(422, "bad_task", detail);

/** @param path path of the file, for error messages. @throws Problem 422 with the setting and what to do about it. */
export function readSettings(text: string, path: string): Settings {
  let value: unknown;
  try {
    value = Bun.TOML.parse(text);
  } catch (error) {
    throw badTask(`${path} is no TOML: ${messageOf(error)}`);
  }
  const top = isObject(value) ? value : {};
  for (const name of ["version", "schema_version"])
    if (top[name] !== undefined && !VERSIONS.test(String(top[name])))
      throw badTask(
        `${path}: ${name} = ${JSON.stringify(top[name])} is a form that Skep does not know; it knows 1.0 to 1.4.`,
      );
  assertKnown("", top, path);
  for (const section of SECTIONS) assertKnown(section, top[section], path);
  if (Value.Check(Settings, value)) return value;
  const first = Value.Errors(Settings, value).First();
  throw badTask(
    `${path}: ${first?.path.slice(1).replaceAll("/", ".") ?? "it"} is not as expected. ${first?.message ?? ""}`.trim(),
  );
}

function assertKnown(section: string, settings: unknown, path: string): void {
  if (!isObject(settings)) {
    if (settings === undefined) return;
    throw badTask(`${path}: ${section} is a table of settings: [${section}].`);
  }
  for (const [name, value] of Object.entries(settings)) {
    const fates = FATES[section]!;
    const fate = Object.hasOwn(fates, name) ? fates[name] : undefined;
    const full = section === "" ? name : `${section}.${name}`;
    if (fate === undefined)
      throw badTask(
        `${path}: Skep does not know the setting ${full}, so the task might count wrongly. Remove it if the task holds without it.`,
      );
    const advice = typeof fate === "function" ? fate(value) : undefined;
    if (advice !== undefined) throw badTask(`${path}: ${full} is not followed. ${advice}`);
  }
}
