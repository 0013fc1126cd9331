/** Sandboxes with carried files: what an agent does to its files and to the carrier, and how many bytes are carried. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "../../../core/ids.ts";
import type { HarnessPlaces, Sandbox } from "../../../engine/sandbox.ts";
import { dockerForTests, testImage } from "../../../testing/docker-image.ts";
import { EXEC, type SandboxFixture, sandboxFixture } from "../../../testing/sandbox-fixture.ts";
import type { DockerClient } from "../../docker.ts";

const docker = await dockerForTests(process.env);
const never = new AbortController().signal;

describe.skipIf(!docker)("files that are carried", () => {
  const engine = docker as DockerClient;
  let fixture: SandboxFixture;
  /** Bytes to and from carriers. */
  let [sent, got] = [0, 0];
  const counted: DockerClient = {
    ...engine,
    containers: {
      ...engine.containers,
      async attach(id, onOutput) {
        const open = await engine.containers.attach(id, (stream, chunk) => {
          got += chunk.length;
          onOutput(stream, chunk);
        });
        return {
          ...open,
          write(data) {
            sent += data.length;
            return open.write(data);
          },
        };
      },
    },
  };
  beforeAll(async () => {
    fixture = sandboxFixture({ docker: counted, defaultImage: await testImage(engine), carries: true });
  });
  afterAll(() => fixture.end());
  const sh = async (sandbox: Sandbox, script: string) => (await sandbox.exec(["sh", "-c", script], EXEC)).output.trim();
  const volumes = () => engine.volumes.list([`skep.instance=${fixture.instanceId}`]);

  test("go once, then only what has changed, to a container that sees no folder of the server", async () => {
    const home = await fixture.workspace();
    for (let n = 0; n < 40; n++) {
      mkdirSync(join(home, `d${n % 4}`), { recursive: true });
      writeFileSync(join(home, `d${n % 4}/f${n}`), Buffer.alloc(50_000, n));
    }
    const spec = await fixture.spec({ home });
    const first = await fixture.driver.start(spec, never);
    expect(first.capabilities.files).toBe("carried");
    expect(sent).toBeGreaterThan(2_000_000);
    const { HostConfig: host, Mounts: mounts } = await engine.containers.inspect(first.containerId);
    expect(JSON.stringify([host, mounts])).not.toContain(home);
    expect(await sh(first, "cat d*/f* | wc -c; ls /run/skep/kept 2>&1 | grep -c denied")).toBe("2000000\n1");
    expect(await sh(first, "echo x > /run/skep/bin/carrier || echo refused")).toContain("refused");
    await first.workspace.bringBack();
    await first.stop();
    [sent, got] = [0, 0];
    writeFileSync(join(home, "d1/f1"), Buffer.alloc(70_000, 1));
    const second = await fixture.driver.start({ ...spec, executionId: newId("execution") }, never);
    expect(await sh(second, "wc -c < d1/f1; head -c 60000 /dev/zero > d2/f2; rm d3/f3")).toBe("70000");
    await second.workspace.bringBack();
    expect(sent).toBeLessThan(80_000);
    expect(got).toBeLessThan(80_000);
    expect([readFileSync(join(home, "d2/f2")).length, readdirSync(join(home, "d3")).includes("f3")]).toEqual([
      60_000,
      false,
    ]);
    await second.stop();
    expect(await volumes()).toHaveLength(1);
    // The copy of a folder that no longer exists is removed.
    rmSync(home, { recursive: true });
    await fixture.driver.sweep(() => true);
    expect(await volumes()).toEqual([]);
  }, 300_000);

  test("survive an agent that ends the carrier, closes folders, links files together and makes what is no file", async () => {
    const home = await fixture.workspace();
    writeFileSync(join(home, "first"), "1\n");
    mkdirSync(join(home, "closed"));
    writeFileSync(join(home, "closed/inside"), "kept\n");
    const spec = await fixture.spec({ home });
    const sandbox = await fixture.driver.start(spec, never);
    await sh(
      sandbox,
      "pkill carrier; kill -15 -1; echo 2 >> first; chmod 000 closed; echo s > setuid; chmod 6755 setuid; ln first hard; mkfifo pipe",
    );
    await sandbox.workspace.bringBack();
    expect(readdirSync(home).sort()).toEqual(["closed", "first", "hard", "setuid"]);
    expect(readFileSync(join(home, "closed/inside"), "utf8")).toBe("kept\n");
    expect(readFileSync(join(home, "hard"), "utf8")).toBe("1\n2\n");
    const { mode, nlink } = lstatSync(join(home, "setuid"));
    expect([(mode & 0o7777).toString(8), nlink, lstatSync(join(home, "hard")).nlink]).toEqual(["755", 1, 1]);
    // When the agent kills the carrier, its container ends. The next sandbox still has the copy's changes.
    await sh(sandbox, "echo 3 >> first; kill -9 -1").catch(() => {});
    await expect(sandbox.workspace.list("")).rejects.toMatchObject({ code: "sandbox_lost" });
    await sandbox.stop();
    const again = await fixture.driver.start(spec, never);
    expect(await sh(again, "cat first")).toBe("1\n2\n3");
    await again.stop();
  }, 300_000);

  test("are an external agent's own, too, from one of its sandboxes to the next", async () => {
    const [home, state] = [await fixture.workspace(), await fixture.workspace()];
    writeFileSync(join(state, "session"), "before\n");
    const spec = await fixture.spec({ home, harness: { state } });
    for (const turn of ["first", "second"]) {
      const sandbox = await fixture.driver.start({ ...spec, executionId: newId("execution") }, never);
      const said = Promise.withResolvers<void>();
      const script = `cat $STATE/session; echo ${turn} | tee -a $STATE/session > made-${turn}; echo over; exec cat`;
      const program = (places: HarnessPlaces) => ({ argv: ["sh", "-c", script], env: { STATE: places.state } });
      let output = "";
      const onStdout = (chunk: Uint8Array) => {
        output += Buffer.from(chunk).toString();
        if (output.endsWith("over\n")) said.resolve();
      };
      const pipe = await sandbox.open(program, { onStdout, onStderr() {} }, never);
      await said.promise;
      expect(output).toBe(turn === "first" ? "before\nover\n" : "before\nfirst\nover\n");
      await pipe.kill();
      await sandbox.workspace.bringBack();
      expect(readFileSync(join(home, `made-${turn}`), "utf8")).toBe(`${turn}\n`);
      await sandbox.stop();
    }
    expect(readFileSync(join(state, "session"), "utf8")).toBe("before\nfirst\nsecond\n");
  }, 300_000);

  test("that are too many or too deep are refused in words, and come once they are not", async () => {
    const home = await fixture.workspace();
    const sandbox = await fixture.start({ home });
    for (const [make, undo, words] of [
      ["truncate -s 30000000000 huge huge2", "rm huge huge2", "20 GiB"],
      ["d=.; for i in $(seq 150); do d=$d/x; done; mkdir -p $d", "rm -r x", "128 folders"],
    ]) {
      await sh(sandbox, `${make}; echo ok > fine`);
      const failure = await sandbox.workspace.bringBack().catch((error) => error);
      expect(failure).toMatchObject({ status: 413, code: "workspace_too_large" });
      expect(failure.detail).toContain(words);
      await sh(sandbox, undo!);
      await sandbox.workspace.bringBack();
      expect(readdirSync(home)).toEqual(["fine"]);
    }
    await sandbox.stop();
  }, 300_000);

  test("are carried again when somebody removed the copy, and what a lost sandbox left is not lost with it", async () => {
    const home = await fixture.workspace();
    writeFileSync(join(home, "a"), "here\n");
    const spec = await fixture.spec({ home });
    const before = new Set((await volumes()).map(({ name }) => name));
    const first = await fixture.driver.start(spec, never);
    await sh(first, "echo more >> a");
    // The container is lost before anything was brought back. The same execution then starts another sandbox.
    await engine.containers.remove(first.containerId);
    await expect(first.exec(["true"], EXEC)).rejects.toMatchObject({ code: "sandbox_lost" });
    await first.stop();
    const second = await fixture.driver.start(spec, never);
    expect(await sh(second, "cat a")).toBe("here\nmore");
    expect(readFileSync(join(home, "a"), "utf8")).toBe("here\nmore\n");
    // Another execution begins with the server's files.
    await sh(second, "echo unwanted > b");
    await engine.containers.remove(second.containerId);
    await second.stop();
    const third = await fixture.driver.start({ ...spec, executionId: newId("execution") }, never);
    expect(await sh(third, "ls")).toBe("a");
    await third.stop();
    const copies = (await volumes()).filter(({ name }) => !before.has(name));
    await Promise.all(copies.map(({ name }) => engine.volumes.remove(name)));
    const fourth = await fixture.driver.start({ ...spec, executionId: newId("execution") }, never);
    expect(await sh(fourth, "cat a")).toBe("here\nmore");
    await fourth.stop();
  }, 300_000);
});
