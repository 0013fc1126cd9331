import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BUILD } from "../../core/version.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import { createPublisher } from "../../testing/update-manifests.ts";
import type { UpdateCheck, Version } from "./model.ts";

const publisher = createPublisher();
const stranger = createPublisher();
const newer = {
  version: "9.0.0",
  notes_url: "https://example.test/notes/9.0.0",
  files: { [BUILD.platform]: { path: "skep", size: 1, sha256: "0".repeat(64) } },
};
let site: ReturnType<typeof Bun.serve>;
let answer: () => Response;
let asked: { url: string; headers: string[]; agent: string | null }[];
const servers: TestServer[] = [];
beforeAll(() => {
  asked = [];
  site = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { url, headers } = request;
      asked.push({ url, headers: [...headers.keys()].toSorted(), agent: headers.get("user-agent") });
      return answer();
    },
  });
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.remove()));
  await site.stop(true);
});

async function serve(env: Record<string, string> = {}): Promise<TestServer> {
  const server = await startServer({ env });
  servers.push(server);
  return server;
}
const watching = () => ({ UPDATE_CHECK_URL: `${site.url.origin}/update.json`, UPDATE_PUBLIC_KEY: publisher.publicKey });
const check = async (server: TestServer) => (await server.request<UpdateCheck>("GET", "/v1/updates/check")).body;

function bomb(): Response {
  const body = Bun.gzipSync(new Uint8Array(64 * 1024 * 1024));
  return new Response(body, { headers: { "Content-Encoding": "gzip" } });
}
function endless(): Response {
  return new Response(
    new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(32)),
    }),
  );
}
/** The manifest of one version, with the signature of another. */
function replaySignature(): string {
  const old = JSON.parse(publisher.seal({ version: "0.0.1" })) as { signature: string };
  const { format, manifest } = JSON.parse(publisher.seal(newer)) as { format: string; manifest: string };
  return JSON.stringify({ format, manifest, signature: old.signature });
}

describe("updates", () => {
  test("version says what this build is", async () => {
    const server = await serve();
    const { status, body } = await server.request<Version>("GET", "/v1/updates/version");
    expect(status).toBe(200);
    expect(body).toMatchObject({ api_version: "v1", platform: BUILD.platform, runtime: BUILD.runtime });
    expect(body.version).toMatch(/^\d+\.\d+\.\d+/);
    expect((await server.request("GET", "/v1/status")).body["version"]).toBe(body.version);
  });

  test("without configuration nothing is contacted, and the check says so", async () => {
    const server = await serve({ UPDATE_PUBLIC_KEY: publisher.publicKey });
    expect(await check(server)).toMatchObject({
      checked: false,
      update_available: false,
      reason: expect.stringContaining("UPDATE_CHECK_URL"),
    });
    expect(asked).toEqual([]);
  });

  test("a newer version is reported by the check and by one notification; nothing about this instance is sent", async () => {
    answer = () => new Response(publisher.seal(newer));
    const server = await serve(watching());
    await framesUntil(
      framesOf<{ data: { title: string } }>(server, "/v1/events/stream?kinds=notification&after=0"),
      ({ data }) => data.data.title === "Version 9.0.0 is available",
    );
    expect(await check(server)).toMatchObject({
      checked: true,
      latest: "9.0.0",
      update_available: true,
      url: newer.notes_url,
    });
    await check(server);
    // The result is reused for some minutes.
    expect(asked).toEqual([
      {
        url: `${site.url.origin}/update.json`,
        headers: ["accept", "accept-encoding", "connection", "host", "user-agent"],
        agent: "skep",
      },
    ]);
  });

  test.each<[string, () => Response, string]>([
    ["signed by another key", () => new Response(stranger.seal(newer)), "signature"],
    ["changed after it was signed", () => new Response(tamperManifest()), "signature"],
    ["no manifest", () => new Response("<html>"), "not an update manifest"],
    ["too large", () => new Response("x".repeat(300_000)), "too large"],
    ["away", () => new Response("", { status: 503 }), "503"],
    ["small on the wire and huge when it is unpacked", bomb, "too large"],
    ["sent without an end", endless, "too large"],
    ["a redirect to itself", () => Response.redirect(`${site.url.origin}/update.json`, 302), "could not be read"],
    [
      "a redirect to a file",
      () => new Response(null, { status: 302, headers: { Location: "file:///etc/passwd" } }),
      "",
    ],
    ["an array within itself", () => new Response("[".repeat(200_000)), "not an update manifest"],
    ["signed, of an older form that passed for a newer", () => new Response(replaySignature()), "signature"],
    ...(
      [
        ["a version that commands a terminal", { version: "9.0.0\u001b[2J" }],
        ["a version that is not a version", { version: "latest" }],
        ["a date that is not valid", { released_at: "yesterday\u001b[2J" }],
        ["notes that are a script", { notes_url: "javascript:alert(1)" }],
        ["notes that command a terminal", { notes_url: "https://example.test/\u001b[2J" }],
        ["a size below nothing", { files: { [BUILD.platform]: { path: "skep", size: -1, sha256: "0".repeat(64) } } }],
        ["no digest", { files: { [BUILD.platform]: { path: "skep", size: 1, sha256: "" } } }],
        ["files that are a list", { files: [] }],
      ] as [string, never][]
    ).map(([what, lie]): [string, () => Response, string] => [
      `signed, with ${what}`,
      () => new Response(publisher.seal(lie)),
      "not of a known form",
    ]),
  ])("a manifest that is %s is not believed", async (_what, given, reason) => {
    answer = given;
    const server = await serve(watching());
    const found = await check(server);
    expect(found).toMatchObject({ checked: false, update_available: false });
    expect(found.latest).toBeUndefined();
    expect(found.reason).toContain(reason);
  });

  test("an older or the same version is not reported, and settings switch the check off", async () => {
    answer = () => new Response(publisher.seal({ ...newer, version: "0.0.1" }));
    const server = await serve(watching());
    expect(await check(server)).toMatchObject({ checked: true, latest: "0.0.1", update_available: false });
    await server.request("PUT", "/v1/settings", { body: { updates: { check: false } } });
    expect(await check(server)).toMatchObject({ checked: false, reason: expect.stringContaining("settings") });
  });

  test("a newer version that holds nothing for this machine says so", async () => {
    answer = () => new Response(publisher.seal({ version: "9.0.0" }));
    const server = await serve(watching());
    expect(await check(server)).toMatchObject({
      update_available: true,
      reason: expect.stringContaining(BUILD.platform),
    });
  });
});

function tamperManifest(): string {
  const envelope = JSON.parse(publisher.seal(newer)) as { manifest: string };
  const manifest = Buffer.from(envelope.manifest, "base64").toString().replace("9.0.0", "9.0.1");
  return JSON.stringify({ ...envelope, manifest: Buffer.from(manifest).toString("base64") });
}
