/** scripts/release refuses what would make a release that cannot be reproduced or trusted. */
import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import manifest from "../../../package.json" with { type: "json" };
import { temporaryFolder } from "../command.ts";

const { version } = manifest;

const SCRIPT = resolve(import.meta.dir, "../../../scripts/release.ts");
const folder = temporaryFolder();
afterAll(folder.remove);
const tree = join(folder.path, "tree");
Bun.spawnSync(["git", "init", "--quiet", tree]);

const release = (...args: string[]) => {
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, SCRIPT, ...args], { cwd: tree });
  return { code: exitCode, said: stderr.toString() };
};

describe("scripts/release", () => {
  const key = join(folder.path, "key.pem");
  const source = join(tree, "src/core/release-key.ts");

  test("keygen keeps the private half outside the tree, for its owner alone, and never overwrites one", async () => {
    await Bun.write(source, 'export const RELEASE_KEY = "";\n');
    expect(release("keygen", join(tree, "key.pem"))).toMatchObject({
      code: 1,
      said: expect.stringContaining("outside"),
    });
    expect(release("keygen", key).code).toBe(0);
    expect(statSync(key).mode & 0o777).toBe(0o600);
    expect(readFileSync(source, "utf8")).toMatch(/^export const RELEASE_KEY = "[A-Za-z0-9+/]{43}=";\n$/);
    const before = readFileSync(key, "utf8");
    expect(release("keygen", key).code).toBe(1);
    expect(readFileSync(key, "utf8")).toBe(before);
  });

  test("a tree with changes, a file that is not a key and a target that is not valid are refused by name", () => {
    writeFileSync(join(tree, "left-over.txt"), "");
    const dirty = release(version, "--key", key, "--url", "https://example.org");
    expect(dirty.code).toBe(1);
    expect(dirty.said).toContain("the tree has changes that are not committed");
    expect(dirty.said).toContain("left-over.txt");
    expect(release(version, "--key", source)).toMatchObject({
      code: 1,
      said: expect.stringContaining("holds no private key"),
    });
    expect(release(version, "--key", key, "--targets", "vax")).toMatchObject({
      code: 1,
      said: expect.stringMatching(/--targets takes linux-x64,/),
    });
    expect(release("9.9.9", "--key", key)).toMatchObject({ code: 1, said: expect.stringContaining(version) });
    expect(release(version, "--key", key)).toMatchObject({ code: 1, said: expect.stringContaining("--url") });
  });
});
