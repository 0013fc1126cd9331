/** Invitations to projects over HTTP and the command line, by people with accounts. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { type Account, elsewhere, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { skepCommand, startServer, type TestServer } from "../../testing/server.ts";

setDefaultTimeout(300_000);

const ENV = { AUTH_ENABLED: "true", RATE_LIMIT: "0", TRUSTED_PROXIES: "127.0.0.1" };

let server: TestServer;
let admin: Account;
let ann: Account;
let ben: Account;
let cat: Account;
beforeAll(async () => {
  server = await startServer({ env: ENV });
  admin = await setupAdmin(server);
  const user = (name: string) => makeUser(server, admin, `${name}@example.test`);
  [ann, ben, cat] = [await user("ann"), await user("ben"), await user("cat")];
});
afterAll(() => server.remove());

interface Body {
  id: string;
  token: string;
  code: string;
  detail: string;
  role: string;
  joined: boolean;
  items: Record<string, unknown>[];
  [more: string]: unknown;
}
const by = (who: Account, method: string, path: string, body?: unknown) =>
  server.request<Body>(method, path, { token: who.token, body });
let projects = 0;
/** Makes a closed project that ann owns. */
async function project(): Promise<string> {
  const made = await by(ann, "POST", "/v1/projects", { name: `pond-${++projects}`, access: "members" });
  return made.body.id;
}
const invite = async (who: Account, projectId: string, input: object = {}) =>
  by(who, "POST", `/v1/projects/${projectId}/invitations`, input);
/** Each request comes from an address of its own, because failed tries are limited per address as well. */
const withToken = (who: Account, path: string, token: string) =>
  server.request<Body>("POST", path, { token: who.token, body: { token }, headers: elsewhere() });
const accept = (who: Account, token: string) => withToken(who, "/v1/invitations/accept", token);
const read = (who: Account, token: string) => withToken(who, "/v1/invitations/read", token);
const toSummary = ({ status, body }: { status: number; body: Body }) => [status, body.code, body.detail];
const statesOf = async (projectId: string) =>
  (await by(ann, "GET", `/v1/projects/${projectId}/invitations`)).body.items.map(({ state, uses }) => [state, uses]);
function inDatabase<T>(use: (db: Database.Database) => T): T {
  const db = new Database(join(server.data, "skep.db"));
  try {
    return use(db);
  } finally {
    db.close();
  }
}
async function skep(who: Account, args: string[], stdin = ""): Promise<string> {
  const env = { PATH: process.env["PATH"] ?? "", HOME: server.data, SKEP_URL: server.url, SKEP_TOKEN: who.token };
  const options = { env, stdin: Buffer.from(stdin), stdout: "pipe", stderr: "pipe" } as const;
  const child = Bun.spawn(skepCommand(...args), options);
  return (await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])).join("").trim();
}

test("who has the token sees what it is to, joins once, and nobody after them; it is kept as a digest alone", async () => {
  const id = await project();
  const made = await invite(ann, id, { role: "viewer" });
  expect([made.status, made.headers.get("cache-control")]).toEqual([201, "no-store"]);
  const { token } = made.body;
  expect((await by(ben, "GET", `/v1/projects/${id}`)).status).toBe(404);
  expect((await read(ben, token)).body).toMatchObject({ role: "viewer", invited_by: "ann", is_member: false });
  expect((await accept(ben, token)).body).toMatchObject({ project_id: id, role: "viewer", joined: true });
  expect((await by(ben, "GET", `/v1/projects/${id}`)).body["role"]).toBe("viewer");
  // Accepting again gives the same answer and does not use up the invitation.
  expect((await accept(ben, token)).body).toMatchObject({ role: "viewer", joined: false });
  const used = [409, "invitation_over", "This invitation has been used. Ask who invited you for another."];
  expect([toSummary(await accept(cat, token)), toSummary(await read(cat, token))]).toEqual([used, used]);
  expect(await statesOf(id)).toEqual([["used", 1]]);
  const kept = ["skep.db", "skep.db-wal"].map((file) => readFileSync(join(server.data, file), "latin1")).join("");
  expect([kept.includes(made.body.id), kept.includes(token.slice(5))]).toEqual([true, false]);
  const audit = await by(admin, "GET", "/v1/admin/audit?limit=20");
  const rows = audit.body.items.filter(({ subject }) => subject === id).map(({ action, actor }) => [action, actor]);
  expect(rows).toEqual(
    expect.arrayContaining([
      ["project.invitation_created", ann.id],
      ["project.invitation_used", ben.id],
      ["project.member_added", ben.id],
    ]),
  );
  const [member] = (await by(ann, "GET", `/v1/projects/${id}/members?limit=50`)).body.items.filter(
    ({ user_id }) => user_id === ben.id,
  );
  expect(member).toMatchObject({ added_by: ann.id, role: "viewer" });
});

test("of several who use the last of it at once, one is in", async () => {
  const id = await project();
  const { token } = (await invite(ann, id)).body;
  const answers = await Promise.all([ben, cat, admin].map((who) => accept(who, token)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
});

test("expired, revoked, and of somebody who may not invite any more, it is over, and each says why", async () => {
  const id = await project();
  const [old, revoked, demoted, lost] = await Promise.all([1, 2, 3, 4].map(() => invite(ann, id, { max_uses: 2 })));
  const past = "2020-01-01T00:00:00.000Z";
  inDatabase((db) => db.prepare("UPDATE project_invitations SET expires_at = ? WHERE id = ?").run(past, old!.body.id));
  const place = `/v1/projects/${id}/invitations/${revoked!.body.id}`;
  expect([(await by(ann, "DELETE", place)).status, (await by(ann, "DELETE", place)).status]).toEqual([204, 204]);
  expect((await accept(cat, old!.body.token)).body.detail).toStartWith("This invitation has expired.");
  expect((await accept(cat, revoked!.body.token)).body.detail).toStartWith("This invitation was revoked.");
  expect((await accept(ben, lost!.body.token)).body.joined).toBe(true);
  await by(admin, "POST", `/v1/projects/${id}/members`, { user: admin.id, role: "owner" });
  await by(admin, "PUT", `/v1/projects/${id}/members/${ann.id}`, { role: "contributor" });
  for (const { body } of [demoted!, lost!])
    expect(toSummary(await accept(cat, body.token))).toEqual([
      409,
      "invitation_over",
      "Who made this invitation may not invite to the project any more. Ask an owner of it.",
    ]);
  expect((await by(cat, "GET", `/v1/projects/${id}`)).status).toBe(404);
});

test("nobody gives more than they have: by role, by a project that is open to all, or after it is closed", async () => {
  const id = await project();
  await by(ann, "POST", `/v1/projects/${id}/members`, { user: ben.id, role: "maintainer" });
  expect((await invite(ben, id, { role: "maintainer" })).status).toBe(201);
  expect(toSummary(await invite(ben, id, { role: "owner" }))).toEqual([
    403,
    "project_role",
    "You are a maintainer of the project, and cannot invite as owner. Ask an owner of it.",
  ]);
  const owners = await invite(ann, id, { role: "owner" });
  expect((await by(ben, "DELETE", `/v1/projects/${id}/invitations/${owners.body.id}`)).status).toBe(403);
  await by(ann, "PUT", `/v1/projects/${id}/access`, { access: "everyone" });
  // The project is open to everybody now, so everybody is a maintainer. Still, none of them may invite others for the
  // time after.
  expect((await by(cat, "GET", `/v1/projects/${id}`)).body["role"]).toBe("maintainer");
  expect(toSummary(await invite(cat, id))).toEqual([
    403,
    "project_role",
    "Only members of the project invite others to it, and you are none. Ask an owner to add you.",
  ]);
  for (const input of [{ days: 31 }, { days: 0 }, { max_uses: 101 }, { role: "king" }])
    expect((await invite(ann, id, input)).status).toBe(422);
});

test("an invitation goes with its project and with the account of who made it, and none opens a personal project", async () => {
  const id = await project();
  const dan = await makeUser(server, admin, "dan@example.test");
  await by(ann, "POST", `/v1/projects/${id}/members`, { user: dan.id, role: "maintainer" });
  const dans = await invite(dan, id);
  const anns = await invite(ann, id);
  await by(admin, "DELETE", `/v1/users/${dan.id}`);
  expect((await read(cat, dans.body.token)).status).toBe(404);
  await by(ann, "PUT", `/v1/projects/${id}/access`, { access: "personal" });
  expect((await accept(cat, anns.body.token)).body.detail).toBe(
    "The project is its owner's alone now. Ask them to open it to its members.",
  );
  expect((await invite(ann, id)).body.code).toBe("personal_project");
  await by(ann, "DELETE", `/v1/projects/${id}`);
  expect((await read(cat, anns.body.token)).status).toBe(404);
  const left = "SELECT count(*) FROM project_invitations WHERE project_id = ?";
  expect(inDatabase((db) => db.prepare(left).pluck().get(id))).toBe(0);
});

test("at the bound the oldest that is over makes room; a project of open ones takes no more", async () => {
  const id = await project();
  const first = await invite(ann, id);
  inDatabase((db) => {
    const like = db.prepare("SELECT * FROM project_invitations WHERE id = ?").get(first.body.id) as object;
    const names = Object.keys(like);
    const insert = db.prepare(`INSERT INTO project_invitations VALUES (${names.map((name) => `@${name}`).join(", ")})`);
    for (let at = 1; at < 100; at++) insert.run({ ...like, id: `inv_zz${at}`, hash: `h${at}` });
  });
  expect((await invite(ann, id)).body.code).toBe("too_many_invitations");
  await by(ann, "DELETE", `/v1/projects/${id}/invitations/inv_zz7`);
  expect((await invite(ann, id)).status).toBe(201);
  expect((await invite(ann, id)).body.code).toBe("too_many_invitations");
});

test("who guesses is locked out, over a restart too, and for a right token as well", async () => {
  const eve = await makeUser(server, admin, "eve@example.test");
  const { token } = (await invite(ann, await project())).body;
  for (let at = 0; at < 10; at++) expect((await accept(eve, `skin_guess-${at}`)).status).toBe(404);
  expect(toSummary(await accept(eve, token))[1]).toBe("account_locked");
  await server.stop("SIGKILL");
  server = await startServer({ env: ENV, data: server.data });
  expect(toSummary(await accept(eve, token))[1]).toBe("account_locked");
  // Other accounts are not locked out, and an invitation from before the kill still works.
  expect((await accept(cat, token)).body.joined).toBe(true);
});

test("skep projects invite and skep join: the link alone on standard output, read from standard input too", async () => {
  const id = await project();
  const name = `pond-${projects}`;
  const link = await skep(ann, ["projects", "invite", "create", name, "--role", "maintainer", "--max-uses", "2"]);
  expect(link).toMatch(/^http:\/\/[^ /]+\/join\/skin_[\w-]{43}$/);
  expect(await skep(ben, ["join", link])).toBe(`You are a maintainer of ${name} now.`);
  expect(await skep(ben, ["join", link])).toBe(`You are a maintainer of ${name} already.`);
  expect(await skep(cat, ["join"], `${link}\n`)).toBe(`You are a maintainer of ${name} now.`);
  const listed = JSON.parse(await skep(ann, ["projects", "invite", "list", name, "--json"]));
  expect(listed.items).toMatchObject([{ role: "maintainer", uses: 2, max_uses: 2, state: "used" }]);
  expect(JSON.stringify(listed)).not.toContain(link.split("/").at(-1)!);
  const second = JSON.parse(await skep(ann, ["projects", "invite", "create", name, "--json"]));
  expect(await skep(ann, ["projects", "invite", "revoke", name, second.id, "--yes"])).toBe(`${second.id}: revoked`);
  expect(await statesOf(id)).toEqual([
    ["revoked", 0],
    ["used", 2],
  ]);
  expect(await skep(cat, ["join", "https://other.example/join/skin_x"])).toContain(
    "skep join --url https://other.example",
  );
  expect(await skep(ann, ["projects", "invite", "create", name, "--days", "soon"])).toContain(
    "--days takes a whole number",
  );
});
