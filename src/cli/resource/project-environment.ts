/** `skep projects environment`: the environment in which sandboxes for a project's work start. */
import type { Schemas } from "../../api/types.ts";
import { badUsage, Problem } from "../../core/errors.ts";
import { ownJson } from "../../core/own-json.ts";
import { fieldLines, timeText } from "../terminal/table.ts";
import { verbMakers } from "./resource.ts";
import { readData } from "./task-import.ts";
import { assertMeant, YES } from "./words.ts";

const { actOnOne } = verbMakers<"/v1/projects">();
type Environment = Schemas["ProjectEnvironment"];
type Definition = Schemas["Environment"];

export const environmentVerb = actOnOne("environment", "show, accept or set what a project's sandboxes start with", {
  options: [
    { flags: "--accept <hash>", about: "accept the environment that the repository proposes, shown with this hash" },
    { flags: "--image <name>", about: "with --accept: container image to use instead" },
    {
      flags: "--set <file>",
      about: "file with the new environment (YAML as in .skep/environment.yml); - for standard input",
    },
    { flags: "--clear", about: "remove the environment" },
    YES,
  ],
  async run({ client, item, path, flags }) {
    const accept: string | undefined = flags["accept"];
    const image: string | undefined = flags["image"];
    const set: string | undefined = flags["set"];
    const clear: true | undefined = flags["clear"];
    const address = `${path}/environment` as const;
    if ([accept, set, clear].filter((flag) => flag !== undefined).length > 1)
      throw badUsage("Give one of --accept HASH, --set FILE and --clear.");
    if (image !== undefined && accept === undefined)
      throw badUsage("--image goes with --accept HASH; with --set, name the image in the file.");
    const name = item["name"];
    if (clear) {
      await assertMeant(`Remove the environment of ${name}?`, flags);
      await client.call("DELETE", address);
      return { json: { deleted: true }, text: `${name}: no environment; sandboxes start as agents and settings say` };
    }
    const before = await client.call("GET", address);
    if (accept === undefined && set === undefined) return { json: before, text: linesOf(name, before) };
    const body =
      accept === undefined
        ? { definition: ownJson<Definition>(JSON.stringify(await readData(set ?? "-"))) }
        : { hash: wholeHash(accept, before), ...(image === undefined ? {} : { image }) };
    const now = await client.call("PUT", address, body);
    return { json: now, text: [`${name}: it counts from the next sandbox on`, ...linesOf(name, now)] };
  },
});

/**
 * Completes the shortened hash of a proposal. @throws Problem 409 if the repository's proposal has changed meanwhile.
 */
function wholeHash(given: string, { proposal }: Environment): string {
  if (proposal && given.length >= 8 && proposal["hash"].startsWith(given)) return proposal["hash"];
  const now = proposal ? `has the hash ${proposal["hash"].slice(0, 12)}` : "does not exist";
  throw new Problem(
    409,
    "environment_changed",
    `The proposal of the repository ${now}. Look at it before you accept it.`,
  );
}

function linesOf(name: string, { accepted, proposal, changed }: Environment): string[] {
  const lines = accepted
    ? [`accepted ${timeText(accepted["accepted_at"])}:`, ...definitionLines(accepted)]
    : ["no environment is accepted: sandboxes start as agents and settings say"];
  if (!proposal) return [...lines, "", "the repository proposes none"];
  if (!changed) return [...lines, "", "it is what the repository proposes"];
  const files = proposal["files"].join(", ");
  return [
    ...lines,
    "",
    `the repository proposes (${files}, ${proposal["branch"]} at ${proposal["commit"].slice(0, 8)}):`,
    ...definitionLines(proposal),
    ...dockerfileLines(proposal),
    ...proposal["notes"].map((note) => `  left out: ${note}`),
    "",
    `accept it: skep projects environment ${name} --accept ${proposal["hash"].slice(0, 12)}`,
  ];
}

function serviceText(name: string, service: NonNullable<Definition["services"]>[string]): string {
  const { image, command, env = {}, health } = service;
  const variables = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  const parts = [`${name}: ${image}`, command?.join(" "), variables.join(" "), health && `healthy: ${health}`];
  return parts.filter(Boolean).join("; ");
}

type Shown = Pick<NonNullable<Environment["accepted"]>, "definition" | "dockerfile">;

/** The Dockerfile that is accepted with the hash. It runs as root of a container. */
const dockerfileLines = ({ dockerfile }: Shown): string[] =>
  dockerfile
    ? dockerfile["text"]
        .trimEnd()
        .split("\n")
        .map((line) => `  | ${line}`)
    : [];

const definitionLines = ({
  definition: { image, build, env = {}, setup, check, network, services = {}, caches },
  dockerfile,
}: Shown): string[] =>
  fieldLines([
    ["image", image ?? null],
    ["Dockerfile", (build && dockerfile && builtOf(build, dockerfile)) || null],
    ...Object.entries(build?.args ?? {}).map(([key, value]): [string, string] => ["argument", `${key}=${value}`]),
    ...Object.entries(env).map(([key, value]): [string, string] => ["variable", `${key}=${value}`]),
    ["set-up", setup ?? null],
    ["check", check ?? null],
    ["hosts", network?.allow.join(", ") ?? null],
    ...Object.entries(services).map(([name, service]): [string, string] => ["service", serviceText(name, service)]),
    ["caches", caches?.join(", ") ?? null],
  ]).map((line) => `  ${line}`);

const builtOf = (
  { dockerfile: path, context = "." }: NonNullable<Definition["build"]>,
  { files, digest, commit }: NonNullable<Shown["dockerfile"]>,
): string =>
  `${path} at ${commit.slice(0, 8)}, with ${files} ${files === 1 ? "file" : "files"} of ${context} (${digest.slice(0, 12)})`;
