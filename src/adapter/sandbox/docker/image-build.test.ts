/** Images built from Dockerfiles by Skep's own builder, in real containers. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { Readable } from "node:stream";
import { pack } from "tar-stream";
import { systemClock } from "../../../core/clock.ts";
import { type ContextFile, selectFiles } from "../../../core/dockerfile/context.ts";
import { planBuild } from "../../../core/dockerfile/plan.ts";
import { dockerForTests, testImage } from "../../../testing/docker-image.ts";
import type { ImageDetail } from "../../docker/images.ts";
import { type BuildWork, baseOf, createImageBuilds } from "./image-build.ts";

setDefaultTimeout(300_000);
const docker = await dockerForTests(process.env);

/** The text of each file, or the target of a link. */
type Files = Record<string, string | { link: string }>;

function contextOf(files: Files): { list: ContextFile[]; source(): Readable } {
  const list = Object.entries(files).map(([path, content]): ContextFile => {
    const text = typeof content === "string" ? content : content.link;
    const oid = createHash("sha1")
      .update(`blob ${Buffer.byteLength(text)}\0${text}`)
      .digest("hex");
    return { path, kind: typeof content === "string" ? "file" : "link", oid };
  });
  const source = () => {
    const tar = pack();
    for (const [path, content] of Object.entries(files))
      if (typeof content === "string") tar.entry({ name: `top/${path}` }, content);
      else tar.entry({ name: `top/${path}`, type: "symlink", linkname: content.link });
    tar.finalize();
    return Readable.from(tar);
  };
  return { list, source };
}

describe.skipIf(!docker)("an image made of a Dockerfile", () => {
  // An instance id of its own, because copies of this file run at the same time.
  const instanceId = `skep-test-build-${process.pid}`;
  let base: ImageDetail;
  const listLeft = async () => {
    const images = (await docker!.images.list()).filter(({ labels }) => labels["skep.instance"] === instanceId);
    return { images, containers: await docker!.containers.list([`skep.instance=${instanceId}`]) };
  };
  async function build(text: string, files: Files = {}, change: Partial<BuildWork> = {}) {
    const { list, source } = contextOf(files);
    const plan = planBuild(`FROM base\n${text}`, { WHO: "world" }, () => baseOf(base));
    const kept: boolean[] = [];
    const work: BuildWork = {
      ownerId: "proj_1",
      images: new Map([["base", base]]),
      plan,
      selections: await selectFiles(list, plan.steps, () => false),
      source,
      prefix: "top/",
      again: false,
      memoryMb: 128,
      cpus: 1,
      timeoutMs: 200_000,
      maxBytes: 64 * 1024 ** 2,
      maxOutputBytes: 64 * 1024,
      onStep: (_step, _at, isKept) => void kept.push(isKept),
      onOutput: () => {},
      ...change,
    };
    const builds = createImageBuilds({ docker: docker!, instanceId, clock: systemClock });
    return { ...(await builds.build(work, AbortSignal.timeout(250_000))), kept };
  }
  beforeAll(async () => {
    base = (await docker!.images.inspect(await testImage(docker!)))!;
  });
  afterAll(async () => {
    const { images } = await listLeft();
    // Images are removed by name, since an image that others are based on is only deleted with the last of them.
    for (const { tags, id } of images) await docker!.images.remove(tags[0] ?? id);
    expect((await listLeft()).images).toEqual([]);
  });

  test("has what its steps left, and steps that have not changed are not done again", async () => {
    const text = `ARG WHO
ENV GREETING="hello $WHO"
WORKDIR /srv/app
RUN echo 'worker:x:1234:1234::/:/bin/sh' >> /etc/passwd; echo "$GREETING" > /tmp/said
COPY --chown=worker src lib/
COPY one.txt lib
COPY one.txt named
USER worker
RUN echo "as $(id -u) in $PWD: $(cat /tmp/said named lib/one.txt lib/deep/two.txt) $(stat -c %u lib/deep lib/deep/two.txt | tr '\\n' ' ')"; : > /srv/app/lib/deep/mine`;
    const files = { "one.txt": "1\n", "src/deep/two.txt": "2\n" };
    const first = await build(text, files);
    expect([first.exitCode, first.output]).toEqual([0, expect.stringContaining("as 1234 in /srv/app: hello world")]);
    expect(first.output).toContain("1\n1\n2 1234 1234");
    expect(first.kept).toEqual([false, false, false, false, false]);
    expect(first.image?.env).toContain("GREETING=hello world");
    expect(first.image?.env.join("\n")).not.toContain("WHO=");
    const second = await build(text, files);
    expect([second.kept, second.names]).toEqual([[true, true, true, true, true], first.names]);
    // Steps before the change are reused, later ones are not. Steps of another project are never reused.
    const third = await build(text, { ...files, "one.txt": "3\n" });
    expect(third.kept).toEqual([true, true, false, false, false]);
    expect((await build("RUN true", {}, { ownerId: "proj_2" })).kept).toEqual([false]);
    expect((await listLeft()).containers).toEqual([]);
  });

  test("takes files from earlier stages and other images, and steps of stages that have not changed are kept", async () => {
    const text = (
      made: string,
    ) => `RUN mkdir -p /out/deep/empty /out/bin; echo ${made} >/out/deep/made; chmod 750 /out/deep; echo x >/out/bin/run; chmod 4755 /out/bin/run; ln /out/bin/run /out/bin/again; ln -s ../deep/made /out/bin/link; ln -s /out/deep/made /to-made; ln -s /etc /out/etc
FROM base AS left-out
RUN exit 9
FROM base
RUN mkdir /there; ln -s /there /way; echo 'worker:x:1234:1234::/:/bin/sh' >>/etc/passwd
COPY --from=0 --chown=worker /out /way/
COPY --from=0 /to-made /named
COPY --from=0 /out/b*/r* /run-it
COPY --from=other /bin/busybox /other/
RUN cat /there/deep/made /named /there/bin/link; ls -ld /there/deep/empty /there/deep /there/bin/run /there/etc /run-it /other/busybox; stat -c %h /there/bin/again`;
    const images = new Map([
      ["base", base],
      ["other", base],
    ]);
    const first = await build(text("one"), {}, { images });
    expect([first.exitCode, first.output]).toEqual([0, expect.stringContaining("one\none\none\n")]);
    for (const line of [
      /^drwxr-xr-x .* worker +1234 .*\/there\/deep\/empty$/m,
      /^drwxr-x--- .* worker .*\/there\/deep$/m,
      /^-rwsr-xr-x .* worker .*\/there\/bin\/run$/m,
      /^l.*\/there\/etc -> \/etc$/m,
      /^-rwsr-xr-x +1 .* \/run-it$/m,
      /^-rwxr-xr-x .*\/other\/busybox$/m,
      /^2$/m,
    ])
      expect(first.output).toMatch(line);
    expect((await build(text("one"), {}, { images })).kept).toEqual(Array.from({ length: 7 }, () => true));
    // The copied image is another one, so all steps after it are done again.
    expect((await build(text("two"), {}, { images })).kept).toEqual([false, true, false, false, false, false, false]);
    for (const [copy, why] of [
      ["/none /x", "has no /none"],
      ["/out/*.no /x", "has no out/*.no"],
    ] as const) {
      const failed = await build(`RUN mkdir /out\nFROM base\nCOPY --from=0 ${copy}`, {}, { images });
      expect([copy, failed.exitCode, failed.output]).toEqual([copy, 1, expect.stringContaining(why)]);
    }
    const large =
      "RUN dd if=/dev/zero of=/made bs=1M count=3\nFROM base\nCOPY --from=0 /made /a\nCOPY --from=0 /made /b";
    expect(await build(large, {}, { images, maxBytes: 8 * 1024 ** 2 })).toMatchObject({
      tooLarge: true,
      image: undefined,
    });
    expect((await listLeft()).containers).toEqual([]);
  });

  test("hard links that are copied without their file count as files of their own", async () => {
    const copy = (of: string) =>
      `RUN mkdir /d && dd if=/dev/zero of=/d/first bs=1M count=3 && for name in 1 2 3; do ln /d/first /d/link$name; done
FROM base
COPY --from=0 ${of} /to/
RUN stat -c "%n %s" /to/*`;
    const bound = { maxBytes: 8 * 1024 ** 2 };
    const one = await build(copy("/d/link1"), {}, bound);
    expect([one.exitCode, one.output]).toEqual([0, expect.stringContaining(`/to/link1 ${3 * 1024 ** 2}`)]);
    const all = await build(copy("/d/link*"), {}, bound);
    expect([all.exitCode, all.image, all.output]).toEqual([
      1,
      undefined,
      expect.stringContaining("The hard links that it copies are more than a build may write."),
    ]);
    expect((await listLeft()).containers).toEqual([]);
  });

  test("a command has the container's own loopback and no right on the machine, and a failed one says why", async () => {
    const failed = await build(
      "RUN true\nRUN ls /sys/class/net; grep -c . /proc/net/route; mount -t tmpfs none /mnt || mknod /dev/sda1 b 8 1 || exit 7",
    );
    expect([failed.exitCode, failed.image, failed.names.length]).toEqual([7, undefined, 1]);
    // The table of routes has only its heading.
    expect(failed.output).toContain("\nlo\n1\n");
    const unknown = await build("USER nobody-here\nRUN true");
    expect([unknown.image, unknown.output]).toEqual([undefined, expect.stringContaining("nobody-here")]);
    const owner = await build("COPY --chown=nobody-here a /a", { a: "1" });
    expect([owner.exitCode, owner.output]).toEqual([
      1,
      expect.stringContaining("The image knows no user or group nobody-here."),
    ]);
    const large = await build("RUN dd if=/dev/zero of=/big bs=1M count=3", {}, { maxBytes: 1024 ** 2 });
    expect([large.tooLarge, large.image]).toEqual([true, undefined]);
    expect((await listLeft()).containers).toEqual([]);
  });

  test("links of the image and of the files lead nowhere but into the image itself", async () => {
    const mark = `skep-test-${process.pid}`;
    const made = await build(
      `RUN ln -s / /out; ln -s ../../../../../../etc /srv; echo inside > /etc/secret
COPY a /out/etc/${mark}
COPY a /srv/b/${mark}
COPY a /out/../../../../tmp/${mark}
COPY links /links
RUN cat /etc/${mark} /etc/b/${mark} /links/up /links/whole`,
      { a: "copied\n", "links/up": { link: "../../../../../../etc/secret" }, "links/whole": { link: "/etc/secret" } },
    );
    expect([made.exitCode, made.output]).toEqual([0, expect.stringContaining("copied\ncopied\ninside\ninside\n")]);
    expect([`/etc/${mark}`, `/etc/b/${mark}`, `/tmp/${mark}`].filter((path) => existsSync(path))).toEqual([]);
  });

  test("files that are not as they were accepted make no image", async () => {
    const { list } = contextOf({ "a.sh": "echo good", "big.bin": "y".repeat(300_000) });
    const plan = planBuild("FROM base\nRUN : before them\nCOPY . /x", {}, () => baseOf(base));
    const selections = await selectFiles(list, plan.steps, () => false);
    const before = (await listLeft()).images.length;
    for (const files of [
      { "a.sh": "echo evil", "big.bin": "y".repeat(300_000) },
      { "a.sh": "echo good" },
      { "a.sh": "echo good", "big.bin": "z".repeat(300_000) },
      { "a.sh": "echo good", "big.bin": { link: "/etc/passwd" } },
    ] as Files[])
      await expect(build("", files, { plan, selections, source: contextOf(files).source })).rejects.toMatchObject({
        code: "build_files_changed",
      });
    const after = await listLeft();
    // Only the step before the failed one has left an image.
    expect([after.images.length - before, after.containers]).toEqual([1, []]);
  });
});
