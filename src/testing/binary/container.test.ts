/**
 * The executable in an image with only its libraries. The root file system is read-only, nothing in /tmp can be
 * executed, and there are no capabilities, no network and no root user. Only the data folder is writable.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { temporaryFolder } from "../command.ts";
import { dockerForTests } from "../docker-image.ts";
import { lacks } from "../parts.ts";
import { importScratchImage } from "./scratch-image.ts";

setDefaultTimeout(300_000);
const binary = process.env["SKEP_BINARY"];
const docker = binary ? await dockerForTests(process.env) : undefined;

describe.skipIf(!docker || lacks("docker command", Bun.which("docker") !== null))(
  "the executable in an empty container",
  () => {
    const folder = temporaryFolder();
    const data = join(folder.path, "data");
    /** Never root: the user who runs the tests, unless that is root, so that the folder can be removed. */
    const user = process.getuid?.() || 10_001;
    const name = `skep-scratch-test-${process.pid}`;
    beforeAll(async () => {
      mkdirSync(data);
      chmodSync(data, 0o777);
      await importScratchImage(docker!, resolve(import.meta.dir, "../../..", binary!), `${name}:latest`);
    });
    afterAll(async () => {
      await engine(["rm", "--force", name]);
      await engine(["rmi", "--force", name]);
      folder.remove();
    });

    async function engine(args: string[]) {
      const child = Bun.spawn(["docker", ...args], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
      const [stdout, stderr] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      return { code: await child.exited, stdout, stderr };
    }
    const inside = (...args: string[]) => engine(["exec", name, "/skep", ...args, "--data", "/data"]);
    /** Waits until the server says where it listens, or has ended. */
    async function waitForStart(): Promise<string> {
      const follow = Bun.spawn(["docker", "logs", "--follow", name], {
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      let text = "";
      for await (const chunk of follow.stdout) {
        text += new TextDecoder().decode(chunk);
        if (text.includes("Listening on")) break;
      }
      follow.kill();
      return text + (text.includes("Listening on") ? "" : await new Response(follow.stderr).text());
    }

    test("starts on a read-only root with a /tmp that is mounted noexec, and says that it is well", async () => {
      const made = await engine([
        "run",
        "--detach",
        "--name",
        name,
        "--network",
        "none",
        "--read-only",
        "--cap-drop",
        "ALL",
        "--security-opt",
        "no-new-privileges",
        "--user",
        `${user}:${user}`,
        "--tmpfs",
        "/tmp:rw,noexec,nosuid,size=16m",
        "--volume",
        `${data}:/data`,
        `${name}:latest`,
        "serve",
        "--data",
        "/data",
        "--sandbox",
        "process",
      ]);
      expect(made.stderr).toBe("");
      expect(await waitForStart()).toContain("Listening on http://127.0.0.1:8000");
      const health = await inside("health");
      expect(health.stderr).toBe("");
      expect(health.stdout).toMatch(/^http:\/\/127\.0\.0\.1:8000 ok /);
    });

    test("runs the pipeline hello to its end", async () => {
      const { code, stdout } = await inside("run", "hello", "Greet me", "--follow");
      expect(stdout).toMatch(/^succeeded: run_/m);
      expect(code).toBe(0);
      expect(existsSync(join(data, "skep.db"))).toBe(true);
    });

    test("ends in time when asked to, and nothing of the run is lost by the next start", async () => {
      expect((await engine(["stop", "--time", "20", name])).code).toBe(0);
      expect((await engine(["inspect", "--format", "{{.State.ExitCode}}", name])).stdout.trim()).toBe("0");
      await engine(["start", name]);
      expect((await engine(["inspect", "--format", "{{.State.Running}}", name])).stdout.trim()).toBe("true");
      while ((await inside("health")).code !== 0) await Bun.sleep(100);
      const { items } = JSON.parse((await inside("runs", "--json")).stdout) as { items: { status: string }[] };
      expect(items.map(({ status }) => status)).toEqual(["succeeded"]);
    });
  },
);
