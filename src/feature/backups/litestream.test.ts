/** Runs the documented recipe for Litestream as it is written, beside a server that is killed. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import Database from "better-sqlite3";
import { waitFor } from "../../testing/attacks/waiting.ts";
import { skep, temporaryFolder } from "../../testing/command.ts";
import { lacks } from "../../testing/parts.ts";
import { skepCommand, startServer } from "../../testing/server.ts";

setDefaultTimeout(300_000);

const ROOT = resolve(import.meta.dir, "../../..");
const PROGRAM = join(ROOT, `node_modules/@flydotio/litestream-${process.platform}-${process.arch}`, "litestream");
const folder = temporaryFolder();
afterAll(folder.remove);

const namesIn = (database: string): string[] => {
  const db = new Database(database, { readonly: true });
  try {
    return db.prepare<[], string>("SELECT name FROM projects").pluck().all();
  } finally {
    db.close();
  }
};

test.skipIf(lacks("Litestream", existsSync(PROGRAM)))(
  "the recipe for Litestream brings back what was there before a kill -9",
  async () => {
    const [, part = ""] = readFileSync(join(ROOT, "docs/backup.md"), "utf8").split("### With Litestream");
    const blocks = [...part.split("\n## ")[0]!.matchAll(/```\w+\n([^`]*)```/g)].map(([, block]) => block!);
    expect(blocks).toHaveLength(3);
    const server = await startServer();
    const inTest = (block: string) =>
      block
        .replaceAll("/etc/litestream.yml", join(folder.path, "litestream.yml"))
        .replaceAll("/var/lib/skep", server.data)
        .replaceAll("/mnt/nas/skep-database", join(folder.path, "copy"))
        .replaceAll("/restored", join(folder.path, "restored"));
    const run = (script: string) => {
      const programs = `skep() { ${skepCommand()
        .map((word) => `'${word}'`)
        .join(" ")} "$@"; }\nlitestream() { '${PROGRAM}' "$@"; }`;
      const ran = Bun.spawnSync(["bash", "-euo", "pipefail", "-c", `${programs}\n${script}`], { cwd: folder.path });
      expect([script, ran.exitCode, ran.stderr.toString()]).toMatchObject([script, 0, expect.anything()]);
    };
    try {
      const [settings, replicate, back] = blocks.map(inTest);
      const config = join(folder.path, "litestream.yml");
      writeFileSync(config, settings!);
      await skep(["backup", join(folder.path, "skep-monday.tar.gz"), "--data", server.data]);
      const [, ...words] = replicate!.trim().split(" ");
      const replica = Bun.spawn([PROGRAM, ...words], { stdio: ["ignore", "ignore", "ignore"] });
      try {
        await server.request("POST", "/v1/projects", { body: { name: "Made on Tuesday" } });
        const seen = join(folder.path, "seen.db");
        await waitFor(() => {
          const database = join(server.data, "skep.db");
          const tried = Bun.spawnSync([PROGRAM, "restore", "-config", config, "-o", seen, database]);
          const isThere = tried.exitCode === 0 && namesIn(seen).includes("Made on Tuesday");
          for (const end of ["", "-wal", "-shm"]) if (existsSync(seen + end)) Bun.spawnSync(["rm", seen + end]);
          return isThere;
        }, "the copy to have the project");
        await server.stop("SIGKILL");
      } finally {
        replica.kill();
        await replica.exited;
      }
      // The last two lines of the recipe check the folder and serve it; the test does that itself.
      run(back!.replace(/^skep (doctor|serve).*$/gm, ""));
      expect(namesIn(join(folder.path, "restored", "skep.db"))).toEqual(["Made on Tuesday"]);
      const restored = await startServer({ data: join(folder.path, "restored") });
      const { status } = await restored.request("GET", "/v1/status");
      await restored.stop();
      expect(status).toBe(200);
    } finally {
      await server.remove();
    }
  },
);
