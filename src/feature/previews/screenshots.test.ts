/**
 * Screenshots of a step's app: the browser in the step's sandbox makes them; they are bounded, and shown to those who
 * may read the run.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createProcessSandboxes } from "../../adapter/sandbox/process/driver.ts";
import { LIMITS } from "../../core/limits.ts";
import { pngSize } from "../../core/png-size.ts";
import type { ExecResult, SandboxDriver } from "../../engine/sandbox.ts";
import { makeScreenshots } from "../../engine/screenshots.ts";
import { openTestApp } from "../../testing/app.ts";
import { hasBrowser } from "../../testing/browser.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import type { Screenshot } from "./model.ts";

setDefaultTimeout(300_000);

const ONE_PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
/** The same picture with another size in its header. */
const withSize = (width: number, height: number): Buffer => {
  const bytes = Buffer.from(ONE_PIXEL);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};

test("a picture is one by its bytes, whole and with nothing behind it", () => {
  expect(pngSize(ONE_PIXEL)).toEqual({ width: 1, height: 1 });
  const page = Buffer.from("<script>alert(1)</script>");
  for (const bytes of [
    page,
    ONE_PIXEL.subarray(0, -1),
    Buffer.concat([ONE_PIXEL, page]),
    Buffer.concat([ONE_PIXEL.subarray(0, 8), page]),
    ONE_PIXEL.subarray(0, 33),
    withSize(0, 1),
    new Uint8Array(),
  ])
    expect(pngSize(bytes)).toBeUndefined();
});

test("what a sandbox gives instead of a picture is said in a sentence, and nothing of it is kept", async () => {
  const result: ExecResult = {
    exitCode: 0,
    output: ONE_PIXEL.toString("base64"),
    omittedBytes: 0,
    timedOut: false,
    aborted: false,
    durationMs: 1,
  };
  const shoot = async (change: Partial<ExecResult>, more = ["/"]) =>
    await makeScreenshots(
      { exec: async () => ({ ...result, ...change }) },
      { port: 3000, screenshots: more },
      new AbortController().signal,
    );
  expect(await shoot({}, ["/", "/b"])).toMatchObject({ made: [{ path: "/", width: 1 }, { path: "/b" }] });
  const readMissing = async (change: Partial<ExecResult>) => {
    const { made, missing } = await shoot(change);
    expect(made).toEqual([]);
    return missing;
  };
  expect(await readMissing({ exitCode: 127 })).toBe(
    "No screenshot of /: the image has no browser; add Chromium to it.",
  );
  expect(await readMissing({ exitCode: 1 })).toContain("made none");
  expect(await readMissing({ timedOut: true, exitCode: null })).toContain("longer than 45 s");
  expect(await readMissing({ output: "PHNjcmlwdD4=" })).toContain("no PNG");
  expect(await readMissing({ omittedBytes: 1 })).toContain("more than 2 MiB");
  expect(await readMissing({ output: withSize(LIMITS.screenshotPixels + 1, 1).toString("base64") })).toContain(
    "pixels",
  );
});

test.skipIf(!hasBrowser())("are kept with the run, and answered as pictures and nothing else", async () => {
  const web = createServer((request, answer) => {
    answer.setHeader("Content-Type", "text/html");
    answer.end(`<h1>At ${request.url}</h1>`);
  });
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  const driver = createProcessSandboxes({ allowHostShell: true });
  // Only the app is not the driver's: the browser looks at the test's own server.
  const sandboxes: SandboxDriver = { ...driver, capabilities: { ...driver.capabilities, previews: "running" } };
  const app = await openTestApp({}, { sandboxes });
  try {
    const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
      const headers = { "Content-Type": "application/json" };
      const answer = await fetch(app.url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
      return (await answer.json()) as T;
    };
    const preview = { port: (web.address() as AddressInfo).port, screenshots: ["/about"] };
    await ask("POST", "/v1/pipelines", { id: "p", name: "P", steps: [{ id: "app", run: "true", preview }] });
    const run = await ask<{ id: string }>("POST", "/v1/runs", { pipeline_id: "p", task_description: "Show it" });
    const frames = framesOf<{ kind: string; data: object }>(app, `/v1/events/stream?after=0&run_id=${run.id}`);
    const read = await framesUntil(frames, ({ data }) => data.kind === "run_complete");
    const made = read.filter(({ data }) => data.kind === "screenshots_made").map(({ data }) => data.data);
    expect(made).toEqual([{ step_id: "app", count: 1 }]);
    const { items } = await ask<{ items: Screenshot[] }>("GET", `/v1/runs/${run.id}/screenshots`);
    expect(items).toMatchObject([{ step_id: "app", path: "/about", width: 1280, run_id: run.id }]);
    const picture = await fetch(`${app.url}/v1/runs/${run.id}/screenshots/${items[0]!.id}`);
    expect(picture.headers.get("content-type")).toBe("image/png");
    expect(picture.headers.get("x-content-type-options")).toBe("nosniff");
    expect(picture.headers.get("content-security-policy")).toBe("sandbox; default-src 'none'");
    const { width, height, size_bytes } = items[0]!;
    const bytes = new Uint8Array(await picture.arrayBuffer());
    expect(pngSize(bytes)).toEqual({ width, height });
    expect(bytes.length).toBe(size_bytes);
    expect((await fetch(`${app.url}/v1/runs/${run.id}/screenshots/none`)).status).toBe(404);
  } finally {
    await app.remove();
    web.closeAllConnections();
    web.close();
  }
});
