/** Files of chats: a fork takes them along, links unfollowed; all that a user owned on the disk goes with the user. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Account, makeUser, setupAdmin } from "../../testing/accounts.ts";
import { waitFor } from "../../testing/attacks/waiting.ts";
import { startServer, type TestServer } from "../../testing/server.ts";

setDefaultTimeout(300_000);

let server: TestServer;
let admin: Account;
beforeAll(async () => {
  server = await startServer({ env: { AUTH_ENABLED: "true" } });
  admin = await setupAdmin(server);
});
afterAll(() => server.remove());

async function chatOf(who: Account): Promise<{ id: string; folder: string; message: string }> {
  const call = (method: string, path: string, body?: object) =>
    server.request<{ id: string; messages: { id: string }[] }>(method, `/v1/chat/sessions${path}`, {
      body,
      token: who.token,
    });
  const { id } = (await call("POST", "", { agent_id: "scribe" })).body;
  await call("POST", `/${id}/message?stream=true`, { message: "Hello" });
  const { messages } = (await call("GET", `/${id}`)).body;
  return { id, folder: join(server.data, "workspaces", id), message: messages[0]?.id ?? "" };
}

test("a fork has a copy of the files, links as links, and what changes later stays apart", async () => {
  const { id, folder, message } = await chatOf(admin);
  mkdirSync(join(folder, "src"), { recursive: true });
  writeFileSync(join(folder, "src/a.txt"), "written");
  symlinkSync("/etc", join(folder, "away"));
  const fork = await server.request<{ id: string; files_left_out: number }>("POST", `/v1/chat/sessions/${id}/fork`, {
    ...{ body: { message_id: message }, token: admin.token },
  });
  expect(fork).toMatchObject({ status: 201, body: { files_left_out: 0 } });
  const copy = join(server.data, "workspaces", fork.body.id);
  expect(readFileSync(join(copy, "src/a.txt"), "utf8")).toBe("written");
  expect(readlinkSync(join(copy, "away"))).toBe("/etc");
  writeFileSync(join(folder, "src/a.txt"), "later");
  expect(readFileSync(join(copy, "src/a.txt"), "utf8")).toBe("written");
});

test("with a user go the workspaces of their chats, their document files and uploads; others' stay", async () => {
  const user = await makeUser(server, admin, "leaves@example.test");
  const [own, others] = [await chatOf(user), await chatOf(admin)];
  const send = async (who: Account, content: string) => {
    const made = await server.request("POST", "/v1/ingest/document", {
      body: { title: "T", content },
      token: who.token,
    });
    expect(made.status).toBeOneOf([200, 201, 202]);
  };
  const files = () =>
    (readdirSync(join(server.data, "uploads"), { recursive: true, encoding: "utf8" }) as string[])
      .filter((path) => /\/[0-9a-f]{64}$/.test(path))
      .map((path) => readFileSync(join(server.data, "uploads", path), "utf8"));
  await send(user, "of the one who leaves");
  await send(user, "of both");
  await send(admin, "of both");
  expect(files().sort()).toEqual(["of both", "of the one who leaves"]);
  expect([own, others].map(({ folder }) => existsSync(folder))).toEqual([true, true]);
  const gone = await server.request("DELETE", `/v1/users/${user.id}`, { token: admin.token });
  expect(gone.status).toBe(204);
  await waitFor(() => !existsSync(own.folder) && files().length === 1, "the removal");
  expect([existsSync(others.folder), files()]).toEqual([true, ["of both"]]);
});
