/** `skep projects export` and `skep projects import`: a project as a file. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { AnswerOf } from "../../api/types.ts";
import { badUsage } from "../../core/errors.ts";
import { assertFile, readFileOrInput, readSecret } from "../read-input.ts";
import { formatCount } from "../terminal/table.ts";
import { archiveName } from "./archive-name.ts";
import { verbMakers } from "./resource.ts";
import { listOf } from "./words.ts";

const { actOnList, actOnOne } = verbMakers<"/v1/projects">();
type Imported = AnswerOf<"POST", "/v1/project-imports">;

const PASSPHRASE = {
  flags: "--passphrase-env <name>",
  about: "take the passphrase of the archive's secrets from this environment variable",
};

export const exportVerb = actOnOne(
  "export",
  "write a project to an archive: its settings, board and policy, and the runs that you may read",
  {
    options: [
      {
        flags: "--out <file>",
        about: "file to write; - for standard output (default: NAME.skep.tar.gz in the current folder)",
      },
      {
        flags: "--secrets <names>",
        about: "secrets to include, separated by commas, sealed by a passphrase (administrators only)",
      },
      PASSPHRASE,
    ],
    async run({ client, item, path, flags }) {
      const secrets = flags["secrets"] === undefined ? [] : listOf(flags["secrets"]);
      const env: string | undefined = flags["passphraseEnv"];
      const isPiped = flags["out"] === "-";
      if (isPiped && (flags["json"] || process.stdout.isTTY))
        throw badUsage("--out - writes the archive to standard output: pipe it on, and leave out --json.");
      const file = resolve(flags["out"] ?? archiveName(item.name));
      if (!isPiped && existsSync(file)) throw badUsage(`${file} is there already. Name another: --out FILE`);
      const body =
        secrets.length === 0 ? {} : { secrets, passphrase: await readSecret("passphrase", env ? { env } : {}) };
      const { bytes } = await client.file(`${path}/export`, body);
      if (isPiped) return { json: {}, text: "", exact: bytes };
      await Bun.write(file, bytes, { mode: 0o600 });
      return {
        json: { file, bytes: bytes.byteLength },
        text: `${item.name} is in ${file} (${bytes.byteLength} bytes)`,
      };
    },
  },
);

export const importVerb = actOnList("import", "create a project from an archive; you become its owner", {
  args: [{ name: "<file>", about: "archive that skep projects export wrote; - for standard input" }],
  options: [
    { flags: "--name <text>", about: "name of the project (default: the one in the archive)" },
    {
      flags: "--access <whom>",
      about: "who sees the project (default: personal)",
      choices: ["everyone", "members", "personal"],
    },
    { flags: "--trust", about: "trust the author of the archive: agents read its texts as those of a person" },
    PASSPHRASE,
  ],
  async run({ client, args: [file = ""], flags }) {
    if (file !== "-") assertFile(file);
    const { name, access, passphraseEnv: env } = flags;
    const trusted = flags["trust"] ? "true" : undefined;
    const passphrase = env === undefined ? undefined : await readSecret("passphrase", { env });
    const fields = { name, access, trusted, passphrase };
    const made = await client.upload<Imported>("/v1/project-imports", await readFileOrInput(file), fields);
    const { project, tasks, job, notices } = made;
    const text = [
      `${project.name} is ${project.id}, open to ${project.access}`,
      ...(job === null
        ? []
        : [`${formatCount(tasks, "task")} ${tasks === 1 ? "is" : "are"} being made: skep jobs ${job.id}`]),
      ...notices,
    ];
    return { json: made, text };
  },
});
