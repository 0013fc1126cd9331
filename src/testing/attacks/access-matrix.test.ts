/**
 * A1–A3: checks every route of the running server with every kind of credential against the written matrix. A route
 * that is missing or listed differently fails; the message contains the rows to write.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Access, findDenial } from "../../http/caller.ts";
import { type Account, elsewhere, logIn, makeUser, setupAdmin } from "../accounts.ts";
import { openTestApp } from "../app.ts";
import { OPEN_PROJECTS } from "../open-projects.ts";
import { countRows } from "../row-counts.ts";
import { startServer, type TestServer } from "../server.ts";

const ENGINE = "engine-token-engine-token";
const MATRIX = join(import.meta.dir, "access-matrix.tsv");

/** The meaning of each access for each credential: let in, or the status with which it is refused. */
const DECISIONS: Record<Access, Record<Credential, "in" | 401 | 403>> = {
  public: { none: "in", garbage: "in", expired: "in", user: "in", other: "in", admin: "in", engine: "in" },
  user: { none: 401, garbage: 401, expired: 401, user: "in", other: "in", admin: "in", engine: "in" },
  admin: { none: 401, garbage: 401, expired: 401, user: 403, other: 403, admin: "in", engine: "in" },
  engine: { none: 401, garbage: 401, expired: 401, user: 403, other: 403, admin: "in", engine: "in" },
  env: { none: 403, garbage: 403, expired: 403, user: 403, other: 403, admin: 403, engine: "in" },
};
type Credential = "none" | "garbage" | "expired" | "user" | "other" | "admin" | "engine";

interface Route {
  method: string;
  path: string;
  access: Access;
  execution: boolean;
}
const rowOf = ({ method, path, access, execution }: Route) =>
  [method, path, access, execution ? "execution" : "-"].join("\t");

let server: TestServer;
let admin: Account;
let user: Account;
let other: Account;
let routes: Route[];

beforeAll(async () => {
  server = await startServer({
    env: { AUTH_ENABLED: "true", TRUSTED_PROXIES: "127.0.0.1", ENGINE_INTERNAL_TOKEN: ENGINE, RATE_LIMIT: "0" },
  });
  admin = await setupAdmin(server);
  user = await makeUser(server, admin, "user@example.test");
  other = await makeUser(server, admin, "other@example.test");
  routes = await declaredRoutes();
});
afterAll(() => server.remove());

/** The route table itself, so that routes that are missing in the API's description are checked, too. */
async function declaredRoutes(): Promise<Route[]> {
  const app = await openTestApp();
  try {
    return app.table.entries.map((route) => ({ ...route, path: route.path.replace(/:(\w+)/g, "{$1}") }));
  } finally {
    await app.remove();
  }
}

/** An expired access token of that session, signed by the server's own key. */
function expireToken(token: string): string {
  const [header, claims] = token.split(".") as [string, string];
  const past = Math.floor(Date.now() / 1_000) - 3_600;
  const old = { ...JSON.parse(Buffer.from(claims, "base64url").toString()), nbf: past, iat: past, exp: past + 900 };
  const input = `${header}.${Buffer.from(JSON.stringify(old)).toString("base64url")}`;
  const key = Buffer.from(readFileSync(join(server.data, "keys/signing.key"), "utf8").trim(), "hex");
  return `${input}.${createHmac("sha256", key).update(input).digest("base64url")}`;
}

/** The status and problem code of a request with made-up ids and an empty body. Streams are closed at once. */
async function knock({ method, path }: Route, token: string | undefined): Promise<{ status: number; code: string }> {
  const leave = new AbortController();
  const headers: Record<string, string> = { ...elsewhere(), ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  const body = method === "GET" || method === "DELETE" ? null : "{}";
  if (body) headers["Content-Type"] = "application/json";
  const url = server.url + path.replace(/\{[^}]+\}/g, "made-up");
  const answer = await fetch(url, { method, headers, body, redirect: "manual", signal: leave.signal });
  const problem = answer.headers.get("content-type")?.startsWith("application/problem+json");
  const code = problem ? ((await answer.json()) as { code: string }).code : "";
  leave.abort();
  return { status: answer.status, code };
}

describe("the access matrix", () => {
  test("lists every route of the server with its access, and no other", () => {
    const lines = readFileSync(MATRIX, "utf8").trim().split("\n").slice(1);
    const written = lines.map((line) => line.split("\t").slice(0, 4).join("\t"));
    const served = routes.map(rowOf).sort();
    const missing = served.filter((row) => !written.includes(row));
    const stale = written.filter((row) => !served.includes(row));
    expect({ missing, stale }).toEqual({ missing: [], stale: [] });
    // The fifth column says whether a user's route names an object of somebody (own), or one that all users see
    // (shared).
    const undecided = lines.filter((line) => {
      const [, path = "", access, , object] = line.split("\t");
      const names = access === "user" && path.includes("{");
      return names ? object !== "own" && object !== "shared" : object !== "-";
    });
    expect(undecided).toEqual([]);
  });

  test.each<Credential>(["none", "garbage", "expired"])(
    "%s: kept out of everything that is not public, and nothing is written",
    async (credential) => {
      const token = { none: undefined, garbage: "garbage", expired: expireToken(admin.token) }[credential as "none"];
      const before = countRows(server.data);
      const wrong = [];
      for (const route of routes) {
        const wanted = DECISIONS[route.access][credential];
        const { status, code } = await knock(route, token);
        // Public routes answer their own 401 and 403 if their body lacks something.
        const kept = wanted === "in" ? code !== "unauthorized" && code !== "forbidden" : status === wanted;
        if (!kept) wrong.push(`${rowOf(route)} ${credential}: ${status} ${code}`);
      }
      expect(wrong).toEqual([]);
      expect(countRows(server.data)).toEqual(before);
    },
    300_000,
  );

  test.each<Credential>(["user", "other", "admin", "engine"])(
    "%s: let in where the matrix says so, and nowhere else",
    async (credential) => {
      const wrong = [];
      for (const route of routes) {
        // A log-out would end the session that the other requests use.
        const fresh = /\/(logout|2fa\/enable)$/.test(route.path);
        const holder = { user, other, admin }[credential as "user"];
        const token = !holder
          ? ENGINE
          : fresh
            ? (await logIn(server, holder.email, undefined, elsewhere()["X-Forwarded-For"])).token
            : holder.token;
        const wanted = DECISIONS[route.access][credential];
        const { status, code } = await knock(route, token);
        const right = wanted === "in" ? status !== 401 && code !== "forbidden" && status < 500 : status === wanted;
        if (!right && status !== 503) wrong.push(`${rowOf(route)} ${credential}: ${status} ${code}`);
      }
      expect(wrong).toEqual([]);
    },
    300_000,
  );

  test("an execution's token is let into the routes that say so, and an ended or invented one nowhere", async () => {
    const execution = { id: "exe_x", sessionId: "sess_x", agentId: "scribe" };
    for (const route of routes) {
      const refused = findDenial({ kind: "execution", admin: false, projects: OPEN_PROJECTS, execution }, route);
      const open = route.access === "public" || route.access === "env" || route.execution;
      expect([rowOf(route), refused?.status]).toEqual([rowOf(route), open ? undefined : 403]);
    }
    expect((await server.request("GET", "/v1/auth/me", { token: "skx_ended" })).status).toBe(401);
  });

  test("no spelling of a path goes around it", async () => {
    const spellings = [
      "//v1/users",
      "/v1//users",
      "/v1/./users",
      "/v1/x/../users",
      "/v1/%2e%2e/v1/users",
      "/v1/users;x=1",
      "/v1/users/.json",
      "/V1/users",
      "/v1/Users",
      "/v1/users%2f",
      "/v1%2fusers",
      "/v1/users%00",
      "/v1/users/",
      "/v1/users?access=public",
      "/v1\\users",
      "/healthz/../v1/users",
      "/healthz/..%2fv1/users",
    ];
    for (const path of spellings)
      for (const method of ["GET", "HEAD", "OPTIONS", "POST"]) {
        // A raw request, because fetch would normalize the path.
        const status = await rawStatus(method, path);
        expect([method, path, [204, 400, 401, 404, 405].includes(status)]).toEqual([method, path, true]);
        if (method !== "OPTIONS") expect(status).not.toBe(204);
      }
  });
});

async function rawStatus(method: string, path: string): Promise<number> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    let text = "";
    void Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open(socket) {
          const length = method === "POST" ? "Content-Type: application/json\r\nContent-Length: 2\r\n" : "";
          socket.write(
            `${method} ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${length}Connection: close\r\n\r\n${length ? "{}" : ""}`,
          );
        },
        data(socket, chunk) {
          text += chunk.toString();
          const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(text) ?? [];
          if (status) {
            resolve(Number(status));
            socket.end();
          }
        },
        error: (_, error) => reject(error),
        close: () => reject(new Error(`no answer to ${method} ${path}`)),
      },
    });
  });
}
