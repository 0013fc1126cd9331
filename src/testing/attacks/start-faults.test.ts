/** What a start reports about faults of the machine: a full disk, a clock that was set back. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { skep, temporaryFolder } from "../command.ts";
import { skepCommand, startServer } from "../server.ts";
import { waitFor } from "./waiting.ts";

// A generous limit for busy machines: these tests wait for events, not for fixed times.
setDefaultTimeout(300_000);

const folder = temporaryFolder();
afterAll(folder.remove);

const isRoot = process.getuid?.() === 0;
test.skipIf(!isRoot && process.env["CI"] !== "true")(
  "a start on a full disk says that the disk is full, whatever it is that needs the room",
  async () => {
    const used = await startServer();
    await used.request("POST", "/v1/secrets", { body: { name: "MINE", value: "value-value-value" } });
    await used.stop();
    const place = join(folder.path, "disk");
    mkdirSync(place);
    const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", place]);
    expect(mounted.stderr.toString()).toBe("");
    try {
      const refusals: string[] = [];
      // With no space at all, with space only for folders, for the database's index, and for some of its pages.
      for (const leftKb of [0, 4, 16, 32, 64])
        for (const isNew of [true, false]) {
          for (const name of readdirSync(place)) rmSync(join(place, name), { recursive: true });
          const data = join(place, "data");
          if (!isNew) cpSync(used.data, data, { recursive: true });
          const { bavail, bsize } = statfsSync(place);
          writeFileSync(join(place, "filler"), Buffer.alloc(Math.max(0, bavail * bsize - leftKb * 1_024)));
          // If the data fits, the server runs until it is stopped.
          const { code, stderr } = await tryStart(data);
          if (code === 0) continue;
          refusals.push(stderr);
          expect([leftKb, isNew, code, stderr]).toEqual([leftKb, isNew, 1, expect.stringMatching(/disk.* is full/)]);
          expect(stderr.split("\n").filter((line) => line.startsWith("skep: "))).toHaveLength(1);
        }
      expect(refusals.length).toBeGreaterThan(3);
    } finally {
      Bun.spawnSync(["umount", "-l", place]);
      await used.remove();
    }
  },
);

/** Starts a server, and stops it once it listens. */
async function tryStart(data: string): Promise<{ code: number; stderr: string }> {
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder.path, DATA: data, PORT: "0", SANDBOX: "process" };
  const child = Bun.spawn(skepCommand("serve"), {
    env: { ...env, LOG_LEVEL: "silent", XDG_STATE_HOME: "/dev/null" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const stderr = new Response(child.stderr).text();
  let text = "";
  let told = false;
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true });
    // Only once, because a second signal would end the server immediately.
    if (!told && text.includes("Listening on")) {
      told = true;
      child.kill("SIGTERM");
    }
  }
  return { code: await child.exited, stderr: await stderr };
}

const library = ["x86_64", "aarch64"]
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)
  .find((path) => Bun.spawnSync(["test", "-e", path]).exitCode === 0);

test.skipIf(!library && process.env["CI"] !== "true")(
  "a clock that is set back while work is done leaves no negative duration anywhere",
  async () => {
    const offset = join(folder.path, "offset");
    const set = (by: string) => writeFileSync(offset, `${by}\n`);
    set("+0");
    const faked = {
      LD_PRELOAD: library ?? "",
      FAKETIME_TIMESTAMP_FILE: offset,
      FAKETIME_NO_CACHE: "1",
      // The monotonic clock, which never goes back, remains the machine's own.
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      ALLOW_HOST_SHELL: "true",
    };
    const server = await startServer({ env: faked });
    try {
      const go = join(folder.path, "go");
      const wait = { id: "wait", run: `until [ -e ${go} ]; do sleep 0.05; done` };
      const made = await server.request("POST", "/v1/pipelines", { body: { id: "wait", name: "Wait", steps: [wait] } });
      expect([made.status, made.body]).toEqual([201, expect.anything()]);
      const input = { pipeline_id: "wait", task_description: "Wait" };
      const { id } = (await server.request<{ id: string }>("POST", "/v1/runs", { body: input })).body;
      const runOf = async () => (await server.request<Record<string, string>>("GET", `/v1/runs/${id}`)).body;
      await waitFor(async () => (await runOf())["status"] === "running", "the run");
      set("-1h");
      writeFileSync(go, "");
      await waitFor(async () => (await runOf())["finished_at"] !== null, "its end");
      const { started_at = "", finished_at = "" } = await runOf();
      expect(Date.parse(finished_at)).toBeLessThan(Date.parse(started_at));
      for (const path of [
        "/v1/internal/run-history",
        `/v1/runs/${id}`,
        `/v1/steps/${id}`,
        "/v1/swarm",
        "/v1/llm-calls",
        "/v1/status",
      ]) {
        const text = JSON.stringify((await server.request("GET", path)).body);
        if (path.endsWith("history")) expect(text).toContain('"duration_ms":0');
        expect(text.match(/"\w+_(?:ms|seconds)":-[^,}]*/g) ?? []).toEqual([]);
      }
      const table = await skep(["runs", "--url", server.url]);
      expect([table.code, table.stdout]).toEqual([0, expect.stringContaining("0.0 s")]);
    } finally {
      await server.remove();
    }
  },
);
