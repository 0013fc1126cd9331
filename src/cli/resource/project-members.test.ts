/** `skep projects members` and `share`, as two people with accounts use them; and what a member's stream shows when it ends. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { skepCommand, startServer, type TestServer } from "../../testing/server.ts";

setDefaultTimeout(300_000);

let server: TestServer;
let ann: Account;
let ben: Account;
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true" } });
  const admin = await setupAdmin(server);
  [ann, ben] = [await makeUser(server, admin, "ann@example.test"), await makeUser(server, admin, "ben@example.test")];
});
afterAll(() => server.remove());

async function skep(who: Account, ...args: string[]): Promise<{ out: string; code: number }> {
  const env = { PATH: process.env["PATH"] ?? "", HOME: server.data, SKEP_URL: server.url, SKEP_TOKEN: who.token };
  const child = Bun.spawn(skepCommand(...args), { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out: `${out}${err}`.trim(), code };
}
const rolesOf = async (who: Account) =>
  JSON.parse((await skep(who, "projects", "members", "list", "secret", "--json")).out).items.map(
    ({ email, role }: { email: string | null; role: string }) => [email, role],
  );

test("a personal project is nobody else's until it is shared, and each role is said, changed and taken away", async () => {
  expect((await skep(ann, "projects", "add", "secret", "--access", "personal")).code).toBe(0);
  const hidden = await skep(ben, "projects", "secret");
  expect(hidden).toEqual({ out: "skep: There is no project secret. List them with: skep projects", code: 1 });
  const refused = await skep(ann, "projects", "members", "add", "secret", "ben@example.test");
  expect(refused).toEqual({ out: "skep: The project is personal. Open it to members first.", code: 1 });
  expect((await skep(ann, "projects", "share", "secret", "members")).out).toBe("secret is open to its members");
  const added = await skep(ann, "projects", "members", "add", "secret", "ben@example.test", "--role", "viewer");
  expect(added.out).toBe("ben is a viewer of secret");
  expect((await skep(ben, "tasks", "create", "A task", "--project", "secret")).out).toContain(
    "This takes the role contributor in the project; yours is viewer.",
  );
  expect((await skep(ann, "projects", "members", "set", "secret", "ben", "--role", "maintainer")).code).toBe(0);
  expect(await rolesOf(ann)).toEqual(
    expect.arrayContaining([
      ["ann@example.test", "owner"],
      ["ben@example.test", "maintainer"],
    ]),
  );
  // Only people who may change members see addresses.
  expect(await rolesOf(ben)).toEqual(expect.arrayContaining([[null, "owner"]]));
  const nobody = await skep(ann, "projects", "members", "remove", "secret", "bem@example.test", "--yes");
  expect(nobody.out).toContain("Did you mean ben@example.test");
  const gone = await skep(ann, "projects", "members", "remove", "secret", "ben@example.test", "--yes");
  expect(gone.out).toBe("ben is no member of secret any more");
  expect((await skep(ben, "projects", "secret")).out).toBe(hidden.out);
});

test("a stream that is open when the membership ends shows nothing more of the project", async () => {
  const by = (who: Account, method: string, path: string, body?: unknown) =>
    server.request(method, path, { token: who.token, body });
  const { id } = (await by(ann, "POST", "/v1/projects", { name: "aviary", access: "members" })).body;
  await by(ann, "POST", `/v1/projects/${id}/members`, { user: ben.email });
  const frames = framesOf(server, "/v1/events/stream?after=0", ben.token);
  const task = (title: string) => by(ann, "POST", `/v1/projects/${id}/tasks`, { title });
  await task("before");
  const first: string[] = [];
  for (;;) {
    const { value } = await frames.next();
    first.push(JSON.stringify(value));
    if (first.at(-1)?.includes("task_changed")) break;
  }
  expect(first.join()).toContain(String(id));
  await by(ann, "DELETE", `/v1/projects/${id}/members/${ben.id}`);
  await task("after");
  await by(ben, "POST", "/v1/projects", { name: "marker" });
  const later = await framesUntil(frames, ({ event, data }) =>
    event === "project_changed" ? JSON.stringify(data).includes("marker") : false,
  );
  expect(later.map(({ event }) => event)).toContain("membership_changed");
  expect(JSON.stringify(later)).not.toContain(String(id));
});
