import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { ChatDetail } from "../chat/model.ts";
import type { Attachment } from "./model.ts";

let server: TestServer;
let a: Account;
let b: Account;
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true" } });
  const admin = await setupAdmin(server);
  a = await makeUser(server, admin, "a@example.test");
  b = await makeUser(server, admin, "b@example.test");
});
afterAll(() => server.remove());

function upload(name: string, bytes: string | Uint8Array<ArrayBuffer>, who = a) {
  const body = new FormData();
  body.append("file", new File([bytes], name, { type: "text/html" }));
  return server.request<Attachment & { code: string }>("POST", "/v1/attachments/upload", { token: who.token, body });
}
const content = (id: string, headers: Record<string, string> = {}, who = a) =>
  fetch(`${server.url}/v1/attachments/${id}/content`, {
    headers: { Authorization: `Bearer ${who.token}`, ...headers },
  });

const PNG = Uint8Array.from(
  atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="),
  (letter) => letter.charCodeAt(0),
);

describe("attachments", () => {
  test("have the type of their bytes, a plain name, and come back byte for byte, never shown in the page", async () => {
    const made = await upload("../../../tmp/skep-planted.png", "<script>alert(1)</script>");
    expect(made.status).toBe(201);
    expect(made.headers.get("location")).toBe(`/v1/attachments/${made.body.id}`);
    expect(made.body).toMatchObject({
      filename: "skep-planted.png",
      media_type: "text/plain",
      size_bytes: 25,
      status: "ready",
      text_available: true,
    });
    expect((await upload("evil.html", PNG)).body).toMatchObject({ media_type: "image/png", text_available: false });
    expect((await upload("x\r\nSet-Cookie: a=b.txt", "x")).body.filename).toBe("x%0D%0ASet-Cookie: a=b.txt");
    expect((await upload("..", new Uint8Array([0, 1, 2]))).body).toMatchObject({
      filename: "file",
      media_type: "application/octet-stream",
    });
    const answer = await content(made.body.id);
    expect(await answer.text()).toBe("<script>alert(1)</script>");
    expect(answer.headers.get("content-disposition")).toStartWith("attachment;");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("content-security-policy")).toContain("sandbox");
    expect(readdirSync(tmpdir())).not.toContain("skep-planted.png");
    for (const folder of readdirSync(join(server.data, "uploads"))) expect(folder).toMatch(/^[0-9a-f]{2}$/);
  });

  test("are kept once, however often they are uploaded", async () => {
    const [one, two] = [await upload("a.txt", "the same"), await upload("b.txt", "the same", b)];
    expect(one.body.sha256).toBe(two.body.sha256);
    const part = join(server.data, "uploads", one.body.sha256.slice(0, 2));
    expect(readdirSync(part).filter((name) => name.startsWith(one.body.sha256))).toHaveLength(1);
  });

  test("are sent in ranges", async () => {
    const { id } = (await upload("r.txt", "0123456789")).body;
    for (const [range, status, text] of [
      ["bytes=2-4", 206, "234"],
      ["bytes=7-", 206, "789"],
      ["bytes=-2", 206, "89"],
      ["bytes=0-99", 206, "0123456789"],
      ["lines=1-2", 200, "0123456789"],
    ] as const) {
      const answer = await content(id, { Range: range });
      expect([range, answer.status, await answer.text()]).toEqual([range, status, text]);
    }
    const beyond = await content(id, { Range: "bytes=10-" });
    expect([beyond.status, beyond.headers.get("content-range")]).toEqual([416, "bytes */10"]);
  });

  test("that are empty, or not a form, are refused", async () => {
    expect((await upload("e.txt", "")).status).toBe(422);
    expect(
      (await server.request("POST", "/v1/attachments/upload", { token: a.token, body: { file: "x" } })).status,
    ).toBe(422);
  });

  test("are their owner's alone, and only an owner may put one into a message", async () => {
    const { id } = (await upload("mine.txt", "canary-of-a")).body;
    for (const path of [`/v1/attachments/${id}`, `/v1/attachments/${id}/content`])
      expect((await server.request("GET", path, { token: b.token })).status).toBe(404);
    const chat = async (who: Account) =>
      (
        await server.request<{ id: string }>("POST", "/v1/chat/sessions", {
          token: who.token,
          body: { agent_id: "scribe" },
        })
      ).body.id;
    const send = (who: Account, session: string) =>
      server.request("POST", `/v1/chat/sessions/${session}/message?stream=true`, {
        token: who.token,
        body: { message: "Read this", attachment_ids: [id] },
      });
    expect((await send(b, await chat(b))).status).toBe(422);
    const own = await chat(a);
    expect((await send(a, own)).status).toBe(200);
    const detail = await server.request<ChatDetail>("GET", `/v1/chat/sessions/${own}`, { token: a.token });
    expect(detail.body.messages[0]).toMatchObject({
      role: "user",
      content: "Read this",
      attachments: [{ id, name: "mine.txt", media_type: "text/plain" }],
    });
  });
});
