/** `skep cookies`: from a browser's file to a grant and back, without a value on the screen. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { skep, temporaryFolder } from "../../testing/command.ts";
import { startServer, type TestServer } from "../../testing/server.ts";

setDefaultTimeout(300_000);

const folder = temporaryFolder();
let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => {
  await server.remove();
  folder.remove();
});
const cli = (...args: string[]) => skep(["cookies", ...args, "--url", server.url]);

test("are added from a browser's file, granted, taken back and deleted, and no value is shown", async () => {
  const file = join(folder.path, "shop.txt");
  writeFileSync(file, "shop.example.com\tFALSE\t/\tTRUE\t0\tsid\ta-value-of-a-cookie\n");
  const added = await cli("add", file, "--grant", "researcher");
  expect(added).toMatchObject({ code: 0, stdout: "shop: 1 cookie, granted to researcher\n" });
  const listed = (await cli()).stdout;
  expect(listed).toMatch(/^NAME +COOKIES +EXPIRE/);
  expect(listed).toMatch(/^shop +1 +with the session +researcher +shop\.example\.com/m);
  expect((await cli("revoke", "shop", "researcher")).code).toBe(0);
  expect((await cli("grant", "sho", "engineer")).stdout).toContain("granted to engineer");
  const one = await cli("shop", "--json");
  expect(JSON.parse(one.stdout)).toMatchObject({ name: "shop", granted_agents: ["engineer"] });
  expect(added.stdout + listed + one.stdout).not.toContain("a-value-of-a-cookie");
  expect((await cli("delete", "shop")).stdout).toBe("deleted cookies shop\n");
  expect((await cli()).stdout).toContain("skep cookies add");
});

test("a grant to an agent that does not exist is refused before the set is stored", async () => {
  const file = join(folder.path, "owl.txt");
  writeFileSync(file, "owl.example.com\tFALSE\t/\tTRUE\t0\tsid\ta-value\n");
  const refused = await cli("add", file, "--grant", "engineer,nobody");
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no agent nobody.") });
  expect((await cli()).stdout).toContain("No cookies yet.");
});

test("a file that does not exist, or breaks the format, is one line with the place", async () => {
  expect((await cli("add", join(folder.path, "none.txt"))).stderr).toContain("There is no file");
  expect((await cli("add", folder.path)).stderr).toContain("is a folder, not a file");
  const file = join(folder.path, "broken.txt");
  writeFileSync(file, "# fine\nshop.example.com sid\n");
  const { code, stderr } = await cli("add", file);
  expect([code, stderr.trimEnd().split("\n").length]).toEqual([1, 1]);
  expect(stderr).toContain("2");
});
