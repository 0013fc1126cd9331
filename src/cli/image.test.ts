/** `skep image build --from debian`: the machine's tool makes the file system, and the engine imports it as an image. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { newId } from "../core/ids.ts";
import { skep, temporaryFolder } from "../testing/command.ts";
import { dockerForTests } from "../testing/docker-image.ts";
import { debianRootfs } from "./debian-rootfs.ts";

setDefaultTimeout(300_000);

const docker = await dockerForTests(process.env);
const folder = temporaryFolder();
afterAll(folder.remove);

/** A folder for PATH with only this mmdebstrap and the programs that a shell script needs. */
function pathWith(script: string): string {
  const bin = join(folder.path, newId("instance"));
  mkdirSync(bin);
  const tool = join(bin, "mmdebstrap");
  writeFileSync(tool, `#!/bin/sh\n${script}`);
  chmodSync(tool, 0o755);
  return `${bin}:/usr/bin:/bin`;
}
const build = (path: string, ...more: string[]) =>
  skep(["image", "build", "--from", "debian", ...more], {
    env: { PATH: path, DOCKER_HOST: process.env["DOCKER_HOST"] ?? "" },
  });

describe("an image of Debian", () => {
  test.skipIf(!docker)("is imported from what the tool writes, with the packages that were asked for", async () => {
    const name = `skep-test-debian:${newId("instance").replaceAll("_", "-")}`;
    const root = join(folder.path, "root");
    mkdirSync(join(root, "bin"), { recursive: true });
    writeFileSync(join(root, "bin/sh"), "not a real one");
    const asked = join(folder.path, "asked");
    const path = pathWith(`echo "$@" > ${asked}; echo "I: installing" >&2; exec tar -C ${root} -c .`);
    const { code, stdout } = await build(
      path,
      "--name",
      name,
      "--with",
      "nodejs,npm",
      "--mirror",
      "http://mirror.test/debian",
    );
    try {
      expect([code, stdout]).toEqual([0, expect.stringMatching(new RegExp(`^built ${name} sha256:`))]);
      expect(readFileSync(asked, "utf8")).toMatch(
        /^--variant=minbase --include=ca-certificates,\S*git,\S*,nodejs,npm stable - http:\/\/mirror\.test\/debian\n$/,
      );
      expect(await docker!.images.inspect(name)).toBeDefined();
    } finally {
      await docker!.images.remove(name).catch(() => {});
    }
  });

  test("holds what a quick tool wrote before anybody read it", async () => {
    const before = process.env["PATH"];
    process.env["PATH"] = pathWith("echo written");
    try {
      const { tar, done } = await debianRootfs({ suite: "stable", packages: [], onLine() {} });
      await done;
      expect(await text(tar)).toBe("written\n");
    } finally {
      process.env["PATH"] = before;
    }
  });

  test.skipIf(!docker)("is not made when the tool fails, and its last words are the reason", async () => {
    const name = `skep-test-debian:${newId("instance").replaceAll("_", "-")}`;
    const path = pathWith('echo "E: no route to the mirror" >&2; exit 3');
    const { code, stderr } = await build(path, "--name", name);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^skep: mmdebstrap ended with 3: E: no route to the mirror\n$/),
    ]);
    expect(await docker!.images.inspect(name)).toBeUndefined();
  });

  test("without the tools says what to install, and what else there is", async () => {
    const empty = join(folder.path, "empty");
    mkdirSync(empty);
    const { code, stderr } = await build(empty);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/apt install mmdebstrap\. .*AGENT_IMAGE=debian:stable/)]);
  });

  test("takes names of packages and refuses options", async () => {
    const { code, stderr } = await build("/usr/bin:/bin", "--with", "--eatmydata");
    expect([code, stderr]).toEqual([2, expect.stringContaining("is not a name of a package")]);
  });
});
