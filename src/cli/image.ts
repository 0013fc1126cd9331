/** `skep image`: the agents' container images without a registry: loaded from a file, built here, listed. */
import { createReadStream, statSync } from "node:fs";
import type { Readable } from "node:stream";
import { type Command, Option } from "commander";
import { type Config, readConfig } from "../core/config.ts";
import { unreadable } from "../core/errors.ts";
import { HARNESS_IMAGE, HARNESS_NAMES } from "../core/harness-names.ts";
import { debianRootfs } from "./debian-rootfs.ts";
import { harnessesIn, harnessFiles } from "./harness-packages.ts";
import { loadApp } from "./load-app.ts";
import { countColumns, fit, isLive, stripControls } from "./terminal/style.ts";

interface Flags {
  json?: boolean;
  dockerHost?: string;
}

export function imageCommand(program: Command): void {
  const image = program
    .command("image")
    .description("load, build and list container images for agents, without a registry");
  const add = (name: string, about: string) =>
    image
      .command(name)
      .description(about)
      .option("--docker-host <address>", "address of the Docker engine (env: DOCKER_HOST)")
      .option("--json", "print JSON instead of text");

  add("load", "load an image from a file that `docker save` wrote (tar, tar.gz)")
    .argument("<file>", "file of the image; - for standard input")
    .action(async (file: string, flags: Flags) => {
      const config = configOf(flags);
      const names = await (await imagesOf(config)).load(openInput(file));
      if (flags.json) return console.log(JSON.stringify({ loaded: names }));
      for (const name of names) console.log(`loaded ${name}`);
      tellUse(names, config);
    });

  add("build", "build an image from a static busybox, from Debian, or from a root file system")
    .addOption(
      new Option("--from <base>", "what to build from; debian has git, a compiler and python").choices([
        "busybox",
        "debian",
      ]),
    )
    .option(
      "--harness <names>",
      `build from Debian with node and these external agents from npm: ${HARNESS_NAMES.join(", ")}`,
    )
    .option("--with <packages>", "with --from debian: further packages to install, separated by commas")
    .option("--suite <name>", "with --from debian: release of Debian", "stable")
    .option("--mirror <url>", "with --from debian: address of the package mirror")
    .addOption(
      new Option(
        "--rootfs <file>",
        "tar or tar.gz file of a root file system that contains sh; - for standard input",
      ).conflicts("from"),
    )
    .option("--name <name>", "name of the image (env: AGENT_IMAGE)")
    .action(async (flags: BuildFlags) => {
      const config = configOf(flags);
      const images = await imagesOf(config);
      const name = flags.name ?? (flags.harness === undefined ? config.agentImage : HARNESS_IMAGE);
      const isDebian = flags.from === "debian" || flags.harness !== undefined;
      const built = isDebian ? await buildDebian(images, name, flags) : await images.build(inputOf(name, flags));
      if (flags.json) return console.log(JSON.stringify(built));
      console.log(`built ${built.name} ${built.id}`);
      if (flags.harness === undefined) return tellUse([built.name], config);
      const which = built.name === HARNESS_IMAGE ? "" : `, and \`image: ${built.name}\``;
      console.log(`Agents use it with \`harness: ${harnessesIn(flags.harness)[0]}\`${which} in their file`);
    });

  add("list", "list the images in the container engine").action(async (flags: Flags) => {
    const config = configOf(flags);
    const rows = await (await imagesOf(config)).list();
    if (flags.json)
      return console.log(
        JSON.stringify({
          items: rows.map(({ id, tags, sizeBytes, createdAt }) => ({
            id,
            tags,
            size_bytes: sizeBytes,
            created_at: new Date(createdAt).toISOString(),
            default: tags.includes(config.agentImage),
          })),
        }),
      );
    for (const { tags, id, sizeBytes } of rows)
      for (const tag of tags.length > 0 ? tags : [id.slice(0, 19)])
        console.log(
          `${tag.padEnd(48)} ${(sizeBytes / 1e6).toFixed(1).padStart(9)} MB${tag === config.agentImage ? "  used by agents that name none" : ""}`,
        );
    if (!rows.some(({ tags }) => tags.includes(config.agentImage)))
      console.log(`${config.agentImage}, the image of agents that name none, does not exist: skep image build`);
  });
}

interface BuildFlags extends Flags {
  from?: "busybox" | "debian";
  harness?: string;
  with?: string;
  suite: string;
  mirror?: string;
  rootfs?: string;
  name?: string;
}

type Images = Awaited<ReturnType<typeof imagesOf>>;

const inputOf = (name: string, { rootfs }: BuildFlags) => ({ name, ...(rootfs ? { rootfs: openInput(rootfs) } : {}) });

async function buildDebian(images: Images, name: string, flags: BuildFlags): Promise<{ name: string; id: string }> {
  const { suite, mirror, harness } = flags;
  const live = isLive() && !flags.json;
  const onLine = (line: string) =>
    live && process.stdout.write(`\r\x1b[2K${fit(stripControls(line), countColumns() - 1)}`);
  const files = harness === undefined ? undefined : await harnessFiles(harnessesIn(harness), onLine);
  const packages = [...(flags.with?.split(",").filter(Boolean) ?? []), ...(files ? ["nodejs"] : [])];
  try {
    return await importImage(images, name, await debianRootfs({ suite, packages, mirror, over: files?.tar, onLine }));
  } finally {
    if (live) process.stdout.write("\r\x1b[2K");
    files?.remove();
  }
}

async function importImage(
  images: Images,
  name: string,
  { tar, done }: Awaited<ReturnType<typeof debianRootfs>>,
): Promise<{ name: string; id: string }> {
  // Check the tool first: its failure is the cause, and the engine only complains about a truncated file.
  const [built, tool] = await Promise.allSettled([images.build({ name, rootfs: tar }), done]);
  if (tool.status === "rejected") throw tool.reason;
  if (built.status === "rejected") throw built.reason;
  return built.value;
}

const imagesOf = async (config: Config) => (await loadApp()).openImages(config);

const configOf = ({ dockerHost }: Flags): Config => readConfig(process.env, { dockerHost });

function tellUse(names: readonly string[], { agentImage }: Config): void {
  if (!names.includes(agentImage))
    console.log(
      `Agents use ${agentImage} unless their file names another; to change that: AGENT_IMAGE=${names[0] ?? "NAME"}`,
    );
}

/** @throws Problem 422 `unreadable` when there is no input. */
function openInput(file: string): Readable {
  if (file === "-") {
    if (process.stdin.isTTY) throw unreadable("Nothing comes on standard input: pipe the file in.");
    return process.stdin;
  }
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found || found.isDirectory())
    throw unreadable(`Cannot read ${file}: ${found ? "it is a folder" : "there is no such file"}.`);
  return createReadStream(file);
}
