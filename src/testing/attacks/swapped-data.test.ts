/**
 * A46: the server never walks by path what a container can write. Folders and links are swapped in all such parts of
 * the data folder while a backup is written and while permissions are restricted at a start. A process on this machine
 * swaps them, and so does a tool server's container that outlives its server.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fchmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import Database from "better-sqlite3";
import { bytesToPack, writeBackup } from "../../store/backup.ts";
import { closeToOthers } from "../../store/private-folder.ts";
import { dockerForTests } from "../docker-image.ts";
import { inImage, mcpImage } from "../mcp/image.ts";
import { mcpServerWhen } from "../mcp/wait.ts";
import { startServer } from "../server.ts";
import { compileSwapper, startSwapper } from "../swapper.ts";
import { waitFor } from "./waiting.ts";

const RACE_MS = Number(process.env["SKEP_RACE_SECONDS"] ?? 3) * 1_000;
setDefaultTimeout(300_000 + 4 * RACE_MS);

const NEEDLE = "NEEDLE-for-the-server-alone";
const base = mkdtempSync(join(tmpdir(), "skep-swapped-data-"));
const docker = await dockerForTests(process.env);
const swapper = compileSwapper();

beforeAll(() => chmodSync(base, 0o755));
afterAll(() => {
  swapper?.remove();
  rmSync(base, { recursive: true, force: true });
});

/**
 * In each folder, prepares a folder `d` that is swapped with a link to `away`, and a file `f` that is swapped with a
 * link to a file there.
 */
function setTraps(folders: readonly string[], away: string, name: string) {
  return folders.flatMap((folder) => {
    const at = (path: string) => join(folder, path);
    mkdirSync(at("d"), { recursive: true });
    for (const path of [`d/${name}`, "f"]) {
      writeFileSync(at(path), "inside");
      chmodSync(at(path), 0o666);
    }
    symlinkSync(away, at("l"));
    symlinkSync(join(away, name), at("g"));
    return [
      [at("d"), at("l")],
      [at("f"), at("g")],
    ] as [string, string][];
  });
}

/** Gives everybody all rights to the file or folder, unless it is a link at this moment. */
function openToAll(path: string): void {
  let opened: number;
  try {
    opened = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    return;
  }
  fchmodSync(opened, 0o777);
  const inside = `/proc/self/fd/${opened}`;
  if (statSync(inside).isDirectory()) for (const name of readdirSync(inside)) chmodSync(join(inside, name), 0o777);
  closeSync(opened);
}

const WRITTEN_BY_CONTAINERS = ["workspaces/run_1", "projects/proj_1/workspace", "mcp/srv"];

function dataFolder() {
  const data = mkdtempSync(join(base, "data-"));
  mkdirSync(join(data, "keys"));
  writeFileSync(join(data, "keys/secrets.key"), NEEDLE, { mode: 0o600 });
  new Database(join(data, "skep.db")).exec("CREATE TABLE x (y)").close();
  const pairs = setTraps(
    WRITTEN_BY_CONTAINERS.map((path) => join(data, path)),
    join(data, "keys"),
    "secrets.key",
  );
  return { data, pairs };
}

test("no backup without keys holds one, whatever is swapped while it is written", async () => {
  const { data, pairs } = dataFolder();
  const swapping = startSwapper(pairs);
  const [seen, texts] = [new Set<boolean>(), new Set<string>()];
  const end = performance.now() + RACE_MS;
  try {
    for (let round = 0; performance.now() < end || seen.size < 2; round++) {
      seen.add(lstatSync(pairs[0]![0]).isSymbolicLink());
      const file = join(base, `backup-${round}.tar.gz`);
      expect(await bytesToPack(data, { withoutKeys: true })).toBeGreaterThan(0);
      await writeBackup(data, file, { withoutKeys: true });
      const packed = gunzipSync(readFileSync(file)).toString("latin1");
      texts.add(packed.includes("inside") ? "inside" : "none");
      if (packed.includes(NEEDLE)) texts.add("the key");
      rmSync(file);
    }
  } finally {
    await swapping.stop();
  }
  expect([...texts].sort()).toEqual(texts.has("none") ? ["inside", "none"] : ["inside"]);
});

test("closing rights changes no mode outside, whatever is swapped meanwhile", async () => {
  const { data, pairs } = dataFolder();
  const away = join(base, "away");
  mkdirSync(away);
  writeFileSync(join(away, "tool"), "outside");
  chmodSync(join(away, "tool"), 0o755);
  chmodSync(away, 0o755);
  const more = setTraps([join(data, "mcp/other")], away, "tool");
  const swapping = startSwapper([...pairs, ...more]);
  const seen = new Set<boolean>();
  const end = performance.now() + RACE_MS;
  try {
    while (performance.now() < end || seen.size < 2) {
      seen.add(lstatSync(more[0]![0]).isSymbolicLink());
      chmodSync(join(data, "mcp"), 0o755);
      const { closed } = closeToOthers(data);
      expect(closed).toContain("mcp");
      for (const path of more.flat()) openToAll(path);
      expect([statSync(away).mode & 0o777, statSync(join(away, "tool")).mode & 0o777]).toEqual([0o755, 0o755]);
    }
  } finally {
    await swapping.stop();
  }
});

test.skipIf(!docker || !swapper)(
  "a tool server that outlives its killed server gets no key into a backup and no mode changed at the next start",
  async () => {
    const data = mkdtempSync(join(base, "killed-"));
    const away = join(base, "tools");
    mkdirSync(away);
    writeFileSync(join(away, "tool"), "outside");
    chmodSync(join(away, "tool"), 0o755);
    const image = await mcpImage(docker!);
    const env = { DOCKER_HOST: docker!.address, SANDBOX: "auto" };
    let server = await startServer({ data, env });
    try {
      const home = join(data, "mcp/odd");
      const pairs = [
        ...setTraps([join(home, "keys")], join(data, "keys"), "secrets.key"),
        ...setTraps([join(home, "tools")], away, "tool"),
      ];
      const command = pairs.flat().map((path) => path.replace(home, "/data"));
      copyFileSync(swapper!.path, join(home, "swapper"));
      const { args, command: program } = inImage("odd");
      const script = `/data/swapper ${command.join(" ")} & exec ${program} ${args.join(" ")}`;
      const body = { id: "odd", transport: "stdio", image, command: "/bin/sh", args: ["-c", script], network: "none" };
      expect(await server.request("POST", "/v1/mcp", { body })).toMatchObject({ status: 201 });
      await server.request("POST", "/v1/secrets", { body: { name: "MADE", value: "the key is made with it" } });
      const key = readFileSync(join(data, "keys/secrets.key"), "utf8").trim();
      const seen = new Set<boolean>();
      for (let round = 0; round < 3; round++) {
        await mcpServerWhen(server, "odd", ({ status }) => status === "running");
        await waitFor(() => {
          seen.add(lstatSync(pairs[0]![0]).isSymbolicLink());
          return seen.size === 2;
        }, "both sides of the swap");
        expect((await server.request("POST", "/v1/admin/backups")).status).toBeOneOf([200, 201, 202]);
        const folder = join(data, "backups");
        const listBackups = () => readdirSync(folder).filter((name) => /^skep-.*gz$/.test(name));
        await waitFor(() => listBackups().length > 0, "a backup");
        for (const name of listBackups()) {
          expect(gunzipSync(readFileSync(join(folder, name))).includes(key)).toBe(false);
          rmSync(join(folder, name));
        }
        await server.stop("SIGKILL");
        for (const path of pairs.flat()) openToAll(path);
        server = await startServer({ data, env });
        expect(statSync(join(away, "tool")).mode & 0o777).toBe(0o755);
        expect(existsSync(join(home, "swapper"))).toBe(true);
      }
      // A server that ends while it starts a container leaves the container to its next start, and here there is none.
      await mcpServerWhen(server, "odd", ({ status }) => status === "running");
    } finally {
      await server.remove();
    }
  },
);
