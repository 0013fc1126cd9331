/**
 * A21: forms. A file is written to disk as it arrives. A body that is no form, too large or cut off leaves nothing
 * behind.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { startServer, type TestServer } from "../server.ts";

setDefaultTimeout(300_000);

const MIB = 1024 * 1024;
const UPLOAD = "/v1/attachments/upload";
let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.remove());

const B = "line-between";
const part = (head: string, body: string) => `--${B}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
const file = (name = "a.txt", body = "words") => part(`name="file"; filename="${name}"`, body);
const send = (
  body: string | Uint8Array,
  type = `multipart/form-data; boundary=${B}`,
  more: Record<string, string> = {},
) =>
  server.request<{ code: string; id: string; sha256: string; filename: string }>("POST", UPLOAD, {
    body,
    headers: { "Content-Type": type, ...more },
  });
const listSpooled = () => readdirSync(join(server.data, "uploads")).filter((name) => !/^[0-9a-f]{2}$/.test(name));
const resident = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) * 1024;

describe("a form", () => {
  const end = `--${B}--\r\n`;
  const many = (n: number) => Array.from({ length: n }, (_, i) => part(`name="f${i}"`, "x")).join("");
  test.each<[what: string, body: string, statuses: number[]]>([
    ["with its file", file() + end, [201]],
    ["whose file comes after a field", part('name="session_id"', "x") + file() + end, [201]],
    ["without a file", part('name="x"', "y") + end, [422]],
    ["with a file of another name", file().replace('name="file"', 'name="other"') + end, [422]],
    ["with two files", file() + file("b.txt") + end, [400, 422]],
    ["with a field twice", part('name="x"', "1") + part('name="x"', "2") + file() + end, [422]],
    ["of a thousand parts", many(1_000) + file() + end, [400]],
    ["that is cut before its end", file(), [400]],
    ["that is cut in its heads", `--${B}\r\nContent-Disp`, [400]],
    ["that is empty", "", [400, 422]],
    ["of other bytes", "\0".repeat(10_000), [400, 422]],
    ["with a head of a megabyte", file("x".repeat(MIB)) + end, [201, 400, 422]],
    ["with a field of two megabytes", part('name="x"', "y".repeat(2 * MIB)) + file() + end, [413]],
    ["with a field that names a prototype", part('name="__proto__"', "y") + file() + end, [201, 422]],
  ])("%s", async (_what, body, statuses) => {
    const answer = await send(body);
    expect([statuses.includes(answer.status), answer.status, answer.body.code]).toEqual([
      true,
      answer.status,
      answer.body.code,
    ]);
    expect(listSpooled()).toEqual([]);
  });

  test("of no kind that can be read is refused", async () => {
    for (const type of [
      "multipart/form-data",
      "multipart/form-data; boundary=",
      `multipart/form-data; boundary=${"x".repeat(5_000)}`,
    ])
      expect([type, [400, 422].includes((await send(file() + end, type)).status)]).toEqual([type, true]);
    expect((await send(file() + end, `multipart/mixed; boundary=${B}`)).status).toBe(415);
    expect((await send(`{"file":"${"x".repeat(2 * MIB)}"}`, "application/json")).status).toBe(413);
  });

  test("is the same request again with another boundary between its parts", async () => {
    const key = { "Idempotency-Key": "form-once" };
    const first = await send(file("k.txt", "once") + end, undefined, key);
    const other = (file("k.txt", "once") + end).replaceAll(B, "another-line");
    const again = await send(other, "multipart/form-data; boundary=another-line", key);
    expect([again.status, again.body.id]).toEqual([201, first.body.id]);
    expect((await send(file("k.txt", "twice") + end, undefined, key)).status).toBe(422);
  });
});

describe("a large file", () => {
  test("goes to the disk as it comes: the server does not grow, and the bytes are the same", async () => {
    const bytes = new Uint8Array(48 * MIB);
    for (let at = 0; at < bytes.length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
    const upload = () => {
      const body = new FormData();
      body.append("file", new File([bytes], "large.bin"));
      return server.request<{ sha256: string; id: string }>("POST", UPLOAD, { body });
    };
    await upload();
    const before = resident();
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, resident());
    }, 10);
    const made = await Promise.all([upload(), upload(), upload()]);
    clearInterval(watch);
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(made[0]!.body.sha256).toBe(new Bun.CryptoHasher("sha256").update(bytes).digest("hex"));
    // Holding three such bodies completely would take 144 MiB.
    expect(most - before).toBeLessThan(72 * MIB);
    const answer = await fetch(`${server.url}/v1/attachments/${made[0]!.body.id}/content`, {
      headers: { Range: `bytes=${40 * MIB}-${40 * MIB + 9}` },
    });
    expect([...(await answer.bytes())]).toEqual([...bytes.subarray(40 * MIB, 40 * MIB + 10)]);
    expect(listSpooled()).toEqual([]);
  });

  test("of more than the limit is refused, and one that breaks off leaves nothing", async () => {
    const body = new FormData();
    body.append("file", new File([new Uint8Array(51 * MIB)], "x"));
    // The connection may close before the client has sent everything.
    const status = await server.request("POST", UPLOAD, { body }).then(
      (answer) => answer.status,
      () => 413,
    );
    expect(status).toBe(413);
    const { port } = new URL(server.url);
    const socket = connect(Number(port), "127.0.0.1");
    const head = `POST ${UPLOAD} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: multipart/form-data; boundary=${B}\r\nContent-Length: 1000000\r\n\r\n`;
    socket.write(head + file("a", "x".repeat(300_000)));
    while (listSpooled().length === 0) await Bun.sleep(10);
    socket.destroy();
    while (listSpooled().length > 0) await Bun.sleep(10);
    expect((await server.request("GET", "/readyz")).status).toBe(200);
  });

  test("that a killed server left half is gone after the next start", async () => {
    const first = await startServer();
    await first.stop("SIGKILL");
    writeFileSync(join(first.data, "uploads/incoming-left"), "half");
    const next = await startServer({ data: first.data });
    expect(readdirSync(join(next.data, "uploads"))).toEqual([]);
    await next.remove();
  });
});
