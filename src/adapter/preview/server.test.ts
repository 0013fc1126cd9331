/** The listener of previews between a hostile visitor and a hostile app. Neither learns or does more than it may. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { LIMITS } from "../../core/limits.ts";
import { cookieIn, isForeign, readRequestHead } from "./head.ts";
import { openPreviewServer, type PreviewServer } from "./server.ts";

const OUTER = "http://abc.preview.test";
/** The heads of the requests that the app got. The path of a request decides what the app does. */
const heads: string[] = [];
const app: Server = createServer((socket) => {
  let text = "";
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    const isFirst = !text.includes("\r\n\r\n");
    text += chunk.toString("latin1");
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) return;
    if (!isFirst) return act(socket, text, text.slice(end + 4), chunk);
    heads.push(text.slice(0, end));
    act(socket, text, text.slice(end + 4), undefined);
  });
});

const EVIL = [
  "Set-Cookie: stays=1; Path=/",
  "Set-Cookie: far=1; Domain=preview.test",
  "Set-Cookie: skep_session=stolen",
  "set-cookie: __Host-skep_preview=x; Path=/; Secure",
  "Clear-Site-Data: *",
  "Strict-Transport-Security: max-age=1; includeSubDomains",
  "Service-Worker-Allowed: /",
  "Access-Control-Allow-Credentials: true",
  "Keep-Alive: timeout=100",
  "Connection: keep-alive",
  "Location: http://localhost:3000/next",
];

function act(socket: Socket, text: string, body: string, more: Buffer | undefined): void {
  const path = text.split(" ")[1] ?? "";
  if (path === "/socket") {
    if (more) return void socket.write(more);
    return void socket.write(`HTTP/1.1 101 Go\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n`);
  }
  if (path === "/body" && body.length < 100_000) return;
  if (path === "/evil")
    return void socket.end(`HTTP/1.1 302 Found\r\nContent-Length: 2\r\n${EVIL.join("\r\n")}\r\n\r\nok and more`);
  if (path === "/split") return void socket.end("HTTP/1.1 200 OK\r\nX: a\nSet-Cookie: skep_session=x\r\n\r\nno");
  if (path === "/early") socket.write("HTTP/1.1 103 Early\r\nLink: </x>\r\n\r\n");
  if (path === "/pieces")
    return void socket.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n");
  if (path === "/reset") return void socket.destroy();
  socket.end(`HTTP/1.0 200 OK\r\n\r\n${body.length} bytes`);
}

let server: PreviewServer;
let counted = 0;
let most = Number.POSITIVE_INFINITY;
let passages = 0;
let ending = new AbortController();
beforeAll(async () => {
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  const { port } = app.address() as AddressInfo;
  server = await openPreviewServer(
    { host: "127.0.0.1", port: 0 },
    {
      decide(request) {
        if (cookieIn(request.headers, "skep_preview") !== "good") return { status: 404, headers: {}, text: "no\n" };
        if (isForeign(request, OUTER)) return { status: 403, headers: {}, text: "foreign\n" };
        passages += 1;
        return {
          outer: OUTER,
          inner: "http://localhost:3000",
          signal: ending.signal,
          connect: async () => {
            if (request.target === "/absent") throw new Error("absent");
            return connect(port, "127.0.0.1");
          },
          explain: (error) => ({ status: 502, headers: { Refresh: "2" }, text: `${error}\n` }),
          count: (bytes) => {
            counted += bytes;
            return counted < most;
          },
          onEnd: () => void passages--,
        };
      },
    },
  );
});
afterAll(async () => {
  server.close();
  await new Promise((resolve) => app.close(resolve));
});

const LET_IN = "Cookie: skep_session=canary; skep_preview=good; theme=dark; __Host-skep_x=1";
/** Sends a text to the listener, and reads until the listener ends the connection. */
async function say(text: string): Promise<string> {
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(Buffer.from(text, "latin1"));
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("latin1");
}
const ask = (path: string, ...headers: string[]) =>
  say([`GET ${path} HTTP/1.1`, "Host: abc.preview.test", LET_IN, ...headers, "", ""].join("\r\n"));

test("an app gets a request as if from its own machine: no cookie of the server, no word of the way there", async () => {
  const forwarded = ["X-Forwarded-For: 10.0.0.1", "Forwarded: for=x", "Proxy-Authorization: Basic x", "TE: trailers"];
  const answer = await ask("/a?b=c", `Origin: ${OUTER}`, `Referer: ${OUTER}/from`, "Accept: text/html", ...forwarded);
  expect(answer).toStartWith("HTTP/1.1 200 OK\r\n");
  expect(answer).toEndWith("\r\n\r\n0 bytes");
  expect(heads.at(-1)!.split("\r\n").sort()).toEqual(
    [
      "GET /a?b=c HTTP/1.1",
      "Host: localhost:3000",
      "Cookie: theme=dark",
      "Origin: http://localhost:3000",
      "Referer: http://localhost:3000/from",
      "accept: text/html",
      "Connection: close",
    ].sort(),
  );
});

test("an app's answer acts on its own pages alone, and ends where it says", async () => {
  const answer = await ask("/evil");
  expect(answer).toEndWith("\r\n\r\nok");
  const lines = answer.split("\r\n\r\n")[0]!.split("\r\n");
  expect(lines.filter((line) => /^set-cookie/i.test(line))).toEqual(["Set-Cookie: stays=1; Path=/"]);
  expect(lines).toContain(`Location: ${OUTER}/next`);
  expect(lines).toContain("Content-Security-Policy: frame-ancestors 'self'");
  expect(lines).toContain("Connection: close");
  expect(answer).not.toMatch(/clear-site|strict-transport|service-worker|allow-credentials|keep-alive/i);
});

test("bodies arrive whole, answers in pieces and after early hints too", async () => {
  const body = "x".repeat(100_000);
  const posted = await say(
    `POST /body HTTP/1.1\r\nHost: abc.preview.test\r\n${LET_IN}\r\nContent-Length: 100000\r\n\r\n${body}GET /smuggled HTTP/1.1\r\n\r\n`,
  );
  expect(posted).toEndWith("100000 bytes");
  expect(heads.join()).not.toContain("smuggled");
  expect(await ask("/pieces")).toEndWith("\r\n\r\n2\r\nhi\r\n0\r\n\r\n");
  const early = await ask("/early");
  expect(early).toStartWith("HTTP/1.1 200 OK");
  expect(early).not.toContain("Link:");
});

test("a WebSocket is carried both ways until either side ends it, or the preview does", async () => {
  const socket = connect(server.port, "127.0.0.1");
  const wait = async (part: string) => {
    let text = "";
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
      text += String(chunk);
      if (text.includes(part)) return text;
    }
    throw new Error(`ended before ${part}: ${text}`);
  };
  const wish = ["Connection: Upgrade", "Upgrade: websocket", `Origin: ${OUTER}`, "Sec-WebSocket-Key: k"];
  socket.write(["GET /socket HTTP/1.1", "Host: abc.preview.test", LET_IN, ...wish, "", ""].join("\r\n"));
  expect(await wait("\r\n\r\n")).toMatch(/^HTTP\/1\.1 101 [\s\S]*Upgrade: websocket/);
  socket.write("ping");
  expect(await wait("ping")).toBe("ping");
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.resume();
  ending.abort();
  await closed;
  ending = new AbortController();
  expect(await ask("/socket", "Upgrade: websocket", "Connection: Upgrade")).toStartWith("HTTP/1.1 403");
});

test("what is not understood is refused, before anything reaches an app", async () => {
  const before = heads.length;
  const host = "Host: abc.preview.test";
  const refused = [
    ["GET / HTTP/1.1", LET_IN],
    ["GET / HTTP/1.1", host, host, LET_IN],
    ["GET http://127.0.0.1/ HTTP/1.1", host, LET_IN],
    ["GET / HTTP/1.1", host, LET_IN, "Content-Length: 1", "Content-Length: 2"],
    ["POST / HTTP/1.1", host, LET_IN, "Transfer-Encoding: chunked"],
    ["GET / HTTP/1.1", host, LET_IN, "Bad Name: x"],
    ["GET / HTTP/1.1", host, LET_IN, "X: a\nY: b"],
    ["GET / HTTP/2", host, LET_IN],
  ];
  for (const lines of refused) expect(await say([...lines, "", ""].join("\r\n"))).toStartWith("HTTP/1.1 400");
  const large = `Content-Length: ${LIMITS.previewBodyBytes + 1}`;
  expect(await say(["POST / HTTP/1.1", host, LET_IN, large, "", ""].join("\r\n"))).toStartWith("HTTP/1.1 413");
  expect(await say(`GET / HTTP/1.1\r\nX: ${"x".repeat(LIMITS.previewHeadBytes)}`)).toBe("");
  expect(await say(["GET / HTTP/1.1", host, "", ""].join("\r\n"))).toStartWith("HTTP/1.1 404");
  expect(heads.length).toBe(before);
});

test("another page's requests do not pass; going to the address does", async () => {
  const from = (site: string, mode: string, dest: string) => [
    `Sec-Fetch-Site: ${site}`,
    `Sec-Fetch-Mode: ${mode}`,
    `Sec-Fetch-Dest: ${dest}`,
  ];
  const status = async (...headers: string[]) => (await ask("/x", ...headers)).slice(9, 12);
  expect(await status(...from("same-site", "navigate", "document"))).toBe("200");
  expect(await status(...from("same-origin", "cors", "empty"))).toBe("200");
  expect(await status(...from("same-site", "no-cors", "image"))).toBe("403");
  expect(await status(...from("same-site", "navigate", "iframe"))).toBe("403");
  expect(await status("Origin: http://other.preview.test")).toBe("403");
  expect(await status("Origin: null")).toBe("403");
  const form = readRequestHead(
    ["POST / HTTP/1.1", "Host: a.b", ...from("same-site", "navigate", "document")].join("\r\n"),
  );
  expect(isForeign(form!, OUTER)).toBe(true);
});

test("an app that is absent, resets or forges its head is said to be so; bytes are bounded, and every passage ends", async () => {
  expect(await ask("/absent")).toMatch(/^HTTP\/1\.1 502 [\s\S]*Refresh: 2\r\n[\s\S]*absent/);
  expect(await ask("/reset")).toStartWith("HTTP/1.1 502");
  expect(await ask("/split")).toStartWith("HTTP/1.1 502");
  most = counted;
  expect(await ask("/x")).toEndWith("\r\n\r\n");
  most = Number.POSITIVE_INFINITY;
  expect(passages).toBe(0);
});
