/** Services for sandboxes in real containers. A busybox web server stands for a database. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../core/clock.ts";
import type { Sandbox, SandboxSpec } from "../../../engine/sandbox.ts";
import { dockerForTests, testImage } from "../../../testing/docker-image.ts";
import { createDockerSandboxes } from "./driver.ts";
import { createServices, ServiceFailure, type ServicePlan } from "./services.ts";

setDefaultTimeout(300_000);
const docker = await dockerForTests(process.env);
const never = new AbortController().signal;

describe.skipIf(!docker)("services of a run", () => {
  const instanceId = `ins_services_${process.pid}`;
  const home = mkdtempSync(join(tmpdir(), "skep-services-"));
  const images = {
    find: async () => (await docker!.images.inspect(image))!,
  };
  let image: string;
  const serving = (name: string, more: Partial<ServicePlan> = {}): ServicePlan => ({
    name,
    image,
    env: { SAYS: `I am ${name}` },
    command: ["sh", "-c", 'sleep 1; echo "$SAYS" > /index.html; exec httpd -f -p 8080 -h /'],
    health: "wget -q -O - http://127.0.0.1:8080/ >/dev/null",
    startSeconds: 120,
    ...more,
  });
  const planOf = (place: string, ...services: ServicePlan[]) => ({ place, services, memoryMb: 128, cpus: 1 });
  const open = (place: string, ...services: ServicePlan[]) => ours.open(planOf(place, ...services), () => {}, never);
  let ours: ReturnType<typeof createServices>;
  let others: ReturnType<typeof createServices>;
  let sandboxes: ReturnType<typeof createDockerSandboxes>;
  const started: Sandbox[] = [];
  const specOf = (network: SandboxSpec["network"], services: SandboxSpec["services"]): SandboxSpec => ({
    executionId: `exe_${started.length}`,
    sessionId: "ses",
    agentId: "a",
    home,
    network,
    services,
    memoryMb: 128,
    cpus: 1,
    env: {},
  });
  async function sandboxOn(network: SandboxSpec["network"], services: SandboxSpec["services"]): Promise<Sandbox> {
    const sandbox = await sandboxes.start(specOf(network, services), never);
    started.push(sandbox);
    return sandbox;
  }
  const readOutput = async (sandbox: Sandbox, command: string): Promise<string> =>
    (await sandbox.exec(["sh", "-c", command], { timeoutMs: 120_000, maxOutputBytes: 10_000 })).output.trim();
  const get = (address: string) => `wget -q -O - http://${address}/ 2>&1 || echo failed`;
  beforeAll(async () => {
    image = await testImage(docker!);
    const deps = { docker: docker!, images, clock: systemClock };
    ours = createServices({ ...deps, instanceId });
    others = createServices({ ...deps, instanceId: `${instanceId}_b` });
    const server = { uid: process.getuid!(), gid: process.getgid!() };
    sandboxes = createDockerSandboxes({
      docker: docker!,
      instanceId,
      defaultImage: image,
      images,
      server,
      relayFolder: home,
    });
  });
  afterAll(async () => {
    for (const sandbox of started) await sandbox.stop();
    for (const services of [ours, others]) for (const place of await services.places()) await services.close(place);
    await sandboxes.close();
    rmSync(home, { recursive: true, force: true });
  });

  test("are healthy when they are given out, and are reached by name from a sandbox without a network, with a list, and with one", async () => {
    const services = await open("run_reach", serving("db"), serving("cache"));
    for (const network of ["none", "bridge", { allow: [[]] }] as const) {
      const sandbox = await sandboxOn(network, services);
      expect(await readOutput(sandbox, `${get("db:8080")}; ${get("cache:8080")}`)).toBe("I am db\nI am cache");
    }
    const { network } = await sandboxes.about(specOf("none", services));
    expect(network).toContain("reached by their names: db, cache");
  });

  test("nothing else is reached beside them: no address of the host, no name outside, no other run's services", async () => {
    const [services, other] = [await open("run_a", serving("db")), await open("run_b", serving("secret"))];
    const host = createServer((socket) => socket.end("HTTP/1.0 200 OK\r\n\r\nthe host")).listen(0, "0.0.0.0");
    await new Promise((resolve) => host.once("listening", resolve));
    try {
      const sandbox = await sandboxOn("none", services);
      const { port } = host.address() as { port: number };
      const own = await readOutput(sandbox, "ip route | sed -n 's/^default via \\([0-9.]*\\).*/\\1/p'");
      const inspected = await docker!.containers.inspect(other.containers.get("secret")!);
      const foreign = Object.values(inspected.NetworkSettings.Networks)[0]!.IPAddress;
      const addresses = Bun.spawnSync(["hostname", "-I"])
        .stdout.toString()
        .trim()
        .split(/\s+/)
        .filter((one) => /^[\d.]+$/.test(one));
      const far = [own, ...addresses, "169.254.169.254", "192.0.2.99"].filter(Boolean);
      const tries = [...far.map((address) => `${address} ${port}`), `${foreign} 8080`];
      // All connections are tried at the same time, because those without an answer take until the time-out.
      const look = tries.map((to) => `(echo x | nc -w 2 ${to} >/dev/null 2>&1 && echo "reached ${to}") &`).join(" ");
      expect(await readOutput(sandbox, `${look} wait; echo x | nc -w 2 db 8080 >/dev/null && echo "reached db"`)).toBe(
        "reached db",
      );
      expect(await readOutput(sandbox, get("secret:8080"))).toContain("failed");
      const { HostConfig: config, Mounts: mounts } = await docker!.containers.inspect(services.containers.get("db")!);
      expect([config.CapDrop, config.PidsLimit, config.Memory, mounts]).toEqual([["ALL"], 512, 128 * 1024 ** 2, []]);
    } finally {
      host.close();
    }
  });

  test("one that does not become healthy, and one that ends, say so with their last lines and leave nothing", async () => {
    const failure = async (place: string, service: ServicePlan) => {
      const error = await open(place, serving("well"), service).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(ServiceFailure);
      expect(await ours.count(place)).toBe(0);
      return error as ServiceFailure;
    };
    const never = {
      command: ["sh", "-c", "echo I wait for a disk; sleep 100000"],
      health: "echo no disk; false",
      startSeconds: 1,
    };
    const unhealthy = await failure("run_unhealthy", serving("db", never));
    expect(unhealthy.message).toBe(
      "db did not become healthy in 1 s: `echo no disk; false` ended with exit code 1: no disk",
    );
    expect(unhealthy.tail).toBe("I wait for a disk\n");
    const ended = await failure(
      "run_ended",
      serving("db", { command: ["sh", "-c", "echo no configuration >&2; exit 3"] }),
    );
    expect(ended.message).toBe("db ended with exit code 3 before it was healthy");
    expect(ended.tail).toBe("no configuration\n");
  });

  test("what runs is taken up by another process of the instance, what changed is started anew, and the end of one is noticed", async () => {
    const first = await open("run_again", serving("db"), serving("cache"));
    const again = await open("run_again", serving("db"), serving("cache"));
    expect(again.containers).toEqual(first.containers);
    const changed = await open("run_again", serving("db"), serving("cache", { env: { SAYS: "other" } }));
    expect(changed.containers.get("db")).toBe(first.containers.get("db")!);
    expect(changed.containers.get("cache")).not.toBe(first.containers.get("cache")!);
    const db = changed.containers.get("db")!;
    const end = ours.waitForEnd("db", db, never);
    await docker!.containers.kill(db);
    expect((await end).message).toBe("db ended with exit code 137");
    await others.open(planOf("run_again", serving("db")), () => {}, never);
    await ours.close("run_again");
    expect([await ours.count("run_again"), await others.count("run_again")]).toEqual([0, 1]);
    expect(await others.places()).toEqual(["run_again"]);
  });
});
