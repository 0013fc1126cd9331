/** Images without a registry: building and loading them, and the archives that are refused. */
import { afterAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { type Header, pack } from "tar-stream";
import { newId } from "../../../core/ids.ts";
import { dockerForTests } from "../../../testing/docker-image.ts";
import type { DockerClient } from "../../docker.ts";
import { createImages } from "./image.ts";
import { ARCHIVE_LIMITS, type ArchiveKind, guardArchive } from "./image-archive.ts";

type Entry = Partial<Header> & { name: string; data?: string | Buffer };

async function tarOf(entries: readonly Entry[]): Promise<Buffer> {
  const tar = pack();
  for (const { data, ...header } of entries) tar.entry(header, data ?? "");
  tar.finalize();
  return Buffer.concat(await Array.fromAsync(tar as AsyncIterable<Buffer>));
}

async function through(kind: ArchiveKind, data: Uint8Array, limits = ARCHIVE_LIMITS): Promise<Buffer> {
  const out = new PassThrough();
  const chunks: Buffer[] = [];
  out.on("data", (chunk: Buffer) => chunks.push(chunk));
  const pieces = Array.from({ length: Math.ceil(data.length / 700) }, (_, index) =>
    data.subarray(index * 700, (index + 1) * 700),
  );
  await pipeline(Readable.from(pieces), guardArchive(kind, limits), out);
  return Buffer.concat(chunks);
}

describe("an archive on its way to the engine", () => {
  test("passes through byte by byte when nothing is wrong with it", async () => {
    const saved = await tarOf([
      { name: "abc/", type: "directory" },
      { name: "abc/layer.tar", data: "x".repeat(5_000) },
      { name: "def/layer.tar", type: "symlink", linkname: "../abc/layer.tar" },
      { name: "manifest.json", data: "[]" },
    ]);
    expect((await through("saved", saved)).equals(saved)).toBe(true);
    const rootfs = await tarOf([
      { name: "./bin/sh", type: "symlink", linkname: "/bin/busybox" },
      { name: "up", type: "symlink", linkname: "../../etc" },
      { name: "dev/null", type: "character-device", devmajor: 1, devminor: 3 },
      { name: "hard", type: "link", linkname: "bin/busybox" },
    ]);
    expect((await through("rootfs", rootfs)).equals(rootfs)).toBe(true);
  });

  const bad: [kind: ArchiveKind, what: string, entries: Entry[]][] = [
    ["saved", "a name that climbs", [{ name: "a/../../x" }]],
    ["rootfs", "a name that climbs", [{ name: "../x" }]],
    ["rootfs", "an absolute name", [{ name: "/etc/passwd" }]],
    ["saved", "a link out", [{ name: "a/b", type: "symlink", linkname: "../../x" }]],
    ["saved", "an absolute link", [{ name: "a", type: "symlink", linkname: "/etc" }]],
    ["saved", "a hard link out", [{ name: "a", type: "link", linkname: "../x" }]],
    ["rootfs", "a hard link out", [{ name: "a", type: "link", linkname: "/etc/shadow" }]],
    ["saved", "a device", [{ name: "dev/sda", type: "block-device" }]],
    ["rootfs", "a device beside /dev", [{ name: "etc/sda", type: "block-device" }]],
    ["saved", "a pipe", [{ name: "p", type: "fifo" }]],
    [
      "saved",
      "a file twice",
      [
        { name: "manifest.json", data: "1" },
        { name: "./manifest.json", data: "2" },
      ],
    ],
  ];
  for (const [kind, what, entries] of bad)
    test(`is refused for ${what} (${kind})`, async () => {
      const data = await tarOf([{ name: "ok", data: "fine" }, ...entries, { name: "later", data: "x".repeat(3_000) }]);
      await expect(through(kind, data)).rejects.toMatchObject({ status: 422, code: "archive_refused" });
    });

  test("is refused for a layer that unpacks to far more than it is, packed in any way, and passes with an honest one", async () => {
    const zeros = Buffer.alloc(4 * 1024 * 1024);
    const honest = randomBytes(300_000);
    const packers = {
      gzip: gzipSync,
      zstd: zstdCompressSync,
      twice: (data: Buffer) => Buffer.concat([gzipSync(data), gzipSync(data)]),
    };
    const limits = { maxBytes: 32 * 1024 ** 3, maxEntries: 100, unpackedBytes: 1024 * 1024 };
    for (const [how, pack] of Object.entries(packers)) {
      const bomb = await tarOf([
        { name: "blobs/sha256/x", data: pack(zeros) },
        { name: "manifest.json", data: "[]" },
      ]);
      await expect([how, through("saved", bomb, limits)][1]).rejects.toMatchObject({
        code: "archive_refused",
        message: expect.stringContaining("bomb"),
      });
      const good = await tarOf([
        { name: "blobs/sha256/x", data: pack(honest) },
        { name: "manifest.json", data: "[]" },
      ]);
      expect((await through("saved", good, limits)).equals(good)).toBe(true);
      // Nobody unpacks packed files inside a root file system, so they are not counted.
      expect((await through("rootfs", bomb, limits)).equals(bomb)).toBe(true);
    }
    const cut = await tarOf([{ name: "layer", data: gzipSync(honest).subarray(0, 1_000) }]);
    expect((await through("saved", cut, limits)).equals(cut)).toBe(true);
  });

  test("is refused for its size, its number of entries, for being cut off, and for being none", async () => {
    const data = await tarOf([{ name: "a", data: "x".repeat(10_000) }, { name: "b" }]);
    const refusal = { status: 422, code: "archive_refused" };
    await expect(through("rootfs", data, { maxBytes: 5_000, maxEntries: 10 })).rejects.toMatchObject(refusal);
    await expect(through("rootfs", data, { maxBytes: 50_000, maxEntries: 1 })).rejects.toMatchObject(refusal);
    await expect(through("rootfs", data.subarray(0, 4_000))).rejects.toMatchObject(refusal);
    await expect(through("rootfs", Buffer.from("no tar at all".repeat(100)))).rejects.toMatchObject(refusal);
    await expect(through("rootfs", Buffer.alloc(0))).rejects.toMatchObject(refusal);
  });
});

const docker = await dockerForTests(process.env);

describe.skipIf(!docker)("images without a registry", () => {
  const engine = docker as DockerClient;
  const tag = newId("instance").replaceAll("_", "-");
  const made: string[] = [];
  afterAll(async () => {
    for (const name of made) await engine.images.remove(name);
  });

  test("a small one is built from this machine's busybox, and is listed", async () => {
    const images = createImages({ docker: engine });
    const name = `skep-test-build:${tag}`;
    made.push(name);
    const built = await images.build({ name });
    expect(built.name).toBe(name);
    expect((await images.list()).find((image) => image.tags.includes(name))?.id).toBe(built.id);
    await expect(images.build({ name, busyboxPaths: ["/no/such/file", "/etc", "/etc/passwd"] })).rejects.toMatchObject({
      code: "busybox_missing",
    });
  });

  test("one is built from a root file system, plain or gzip, and from no hostile one", async () => {
    const images = createImages({ docker: engine });
    const data = await tarOf([
      { name: "etc/", type: "directory" },
      { name: "etc/made", data: "here" },
    ]);
    for (const [index, file] of [data, gzipSync(data)].entries()) {
      const name = `skep-test-rootfs:${tag}-${index}`;
      made.push(name);
      expect((await images.build({ name, rootfs: Readable.from([file]) })).id).toStartWith("sha256:");
    }
    const hostile = await tarOf([{ name: "../../etc/cron.d/x", data: "bad" }]);
    const name = `skep-test-rootfs:${tag}-hostile`;
    await expect(images.build({ name, rootfs: Readable.from([hostile]) })).rejects.toMatchObject({
      code: "archive_refused",
    });
    expect(await engine.images.inspect(name)).toBeUndefined();
  });

  test("a bomb is stopped at the limit of what it unpacks to", async () => {
    const images = createImages({ docker: engine, limits: { maxBytes: 1024 * 1024, maxEntries: 100 } });
    const bomb = gzipSync(await tarOf([{ name: "zeros", data: "\0".repeat(20 * 1024 * 1024) }]));
    expect(bomb.length).toBeLessThan(100_000);
    await expect(images.load(Readable.from([bomb]))).rejects.toMatchObject({ code: "archive_refused" });
  });

  test("one saved by the engine is loaded again, and its name returned", async () => {
    const images = createImages({ docker: engine });
    const name = `skep-test-load:${tag}`;
    await images.build({ name });
    const { socketPath } = (await import("../../docker/endpoint.ts")).dockerEndpoint({
      host: process.env["DOCKER_HOST"],
    });
    const answer = await fetch(`http://docker/images/${name}/get`, socketPath ? { unix: socketPath } : {});
    const saved = Buffer.from(await answer.arrayBuffer());
    await engine.images.remove(name);
    made.push(name);
    const progress: string[] = [];
    expect(await images.load(Readable.from([gzipSync(saved)]), ({ status }) => progress.push(status))).toEqual([name]);
    expect(progress.join()).toContain(name);
    expect(await engine.images.inspect(name)).toBeDefined();
  });

  test("what is not a saved image is the caller's mistake, reported in the engine's words", async () => {
    const data = await tarOf([{ name: "readme", data: "hello" }]);
    await expect(createImages({ docker: engine }).load(Readable.from([data]))).rejects.toMatchObject({
      status: 422,
      code: "image_refused",
    });
  });
});
