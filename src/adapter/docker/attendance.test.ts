/** Calls to a container engine that stops answering. */
import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { codeOf, unavailable } from "../../core/errors.ts";
import { connectDocker } from "../docker.ts";
import { createAttendance } from "./attendance.ts";
import { dockerEndpoint } from "./endpoint.ts";

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of cleanUp.splice(0).reverse()) await end();
});

/** An engine whose answers the test gives, and a client that pings it every 10 ms during calls. */
function engine(answer: (path: string) => Response | Promise<Response>) {
  const folder = mkdtempSync(join(tmpdir(), "skep-engine-"));
  const unix = join(folder, "docker.sock");
  const server = Bun.serve({ unix, fetch: ({ url }) => answer(new URL(url).pathname) });
  cleanUp.push(
    () => rmSync(folder, { recursive: true }),
    () => server.stop(true),
  );
  return connectDocker(dockerEndpoint({ host: unix }), { everyMs: 10, pingMs: 500 });
}

const never = () => new Promise<Response>(() => {});
const exec = { argv: ["true"], onOutput: () => {} };

test("an engine that accepts calls and answers nothing is given up, one that answers pings is waited for", async () => {
  const slow = Promise.withResolvers<Response>();
  let pings = 0;
  const answerPing = () => {
    pings += 1;
    // By now a frozen engine would have missed enough pings; since this one answers them, the call is still awaited.
    if (pings > 5) slow.resolve(Response.json({ Id: "slow-but-made" }));
    return new Response("OK");
  };
  let frozen = false;
  const client = engine((path) => (frozen ? never() : path === "/_ping" ? answerPing() : slow.promise));
  expect(await client.containers.create({ Image: "x" })).toBe("slow-but-made");
  frozen = true;
  const { containers, images } = client;
  const calls = [
    containers.start("x"),
    containers.exec("x", exec),
    containers.attach("x", () => {}),
    Array.fromAsync(containers.logs("x", { follow: false })),
    Array.fromAsync(containers.logs("x", { follow: true })),
    images.inspect("x"),
    images.load(Readable.from([Buffer.from("tar")])),
    images.importRootfs(Readable.from([Buffer.from("tar")]), "x", []),
    images.pull("x"),
    images.tag("x", "y"),
    images.remove("x"),
    client.networks.list(),
    client.info(),
  ];
  const ends = await Promise.allSettled(calls);
  const codes = ends.map((end) => (end.status === "rejected" ? codeOf(end.reason) : "answered"));
  expect(codes).toEqual(calls.map(() => "sandbox_unavailable"));
});

test("an image whose pull stops halfway because the engine froze is given up", async () => {
  let frozen = false;
  const progress: string[] = [];
  // Each request gets a stream of its own, because on a slow machine several may arrive before the engine freezes.
  const halfway = () =>
    new ReadableStream({
      start: (out) => out.enqueue(Buffer.from('{"status":"Pulling from x"}\r\n{"status":"Pulling fs lay')),
    });
  const client = engine(() => (frozen ? never() : new Response(halfway())));
  const pull = client.images.pull("x", {
    onProgress: ({ status }) => {
      progress.push(status);
      frozen = true;
    },
  });
  await expect(pull).rejects.toMatchObject({ code: "sandbox_unavailable" });
  expect(progress).toEqual(["Pulling from x"]);
});

test("a command is not started by an engine that answers only after it was given up", async () => {
  const thawed = Promise.withResolvers<Response>();
  const started: string[] = [];
  let frozen = true;
  const client = engine((path) => {
    if (path.endsWith("/start")) started.push(path);
    if (path.endsWith("/x/exec")) return thawed.promise;
    return frozen ? never() : Response.json({});
  });
  await expect(client.containers.exec("x", exec)).rejects.toMatchObject({ code: "sandbox_unavailable" });
  frozen = false;
  thawed.resolve(Response.json({ Id: "late" }, { status: 201 }));
  // Any request that the late answer triggers is sent before these calls are answered.
  for (let calls = 0; calls < 5; calls++) await client.containers.inspect("y");
  expect(started).toEqual([]);
});

describe("the watch over an engine", () => {
  test("counts no ping that was sent for calls that have ended meanwhile", async () => {
    const pings: ReturnType<typeof Promise.withResolvers<void>>[] = [];
    let asked = Promise.withResolvers<void>();
    const attend = createAttendance(() => {
      const ping = Promise.withResolvers<void>();
      pings.push(ping);
      asked.resolve();
      return ping.promise;
    }, 5);
    const nextPing = async () => {
      await asked.promise;
      asked = Promise.withResolvers();
      return pings.at(-1)!;
    };
    const down = unavailable("sandbox_unavailable", "Docker does not answer.");
    const first = Promise.withResolvers<string>();
    const firstCall = attend(() => first.promise);
    const late = await nextPing();
    first.resolve("done");
    expect(await firstCall).toBe("done");
    const second = Promise.withResolvers<string>();
    let givenUp: AbortSignal | undefined;
    const secondCall = attend((signal) => {
      givenUp = signal;
      return second.promise;
    });
    late.reject(down);
    for (let miss = 0; miss < 2; miss++) (await nextPing()).reject(down);
    const last = await nextPing();
    expect(givenUp!.aborted).toBe(false);
    last.reject(down);
    await expect(secondCall).rejects.toBe(down);
    expect(givenUp!.aborted).toBe(true);
  });
});
