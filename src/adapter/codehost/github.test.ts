/** The GitHub client against a test server that issues and checks keys and tokens as GitHub does. */
import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { startCodeHost } from "../../testing/code-host.ts";
import { openCodeHost } from "./open.ts";

const host = await startCodeHost();
afterAll(() => host.stop());

test("an App that was removed and installed again goes on, for the API and for git, with its new installation", async () => {
  const app = { id: "4711", privateKey: readFileSync(host.keyFile, "utf8") };
  const tokens: string[] = [];
  const github = await openCodeHost({ kind: "github", url: host.origin, app }, (token) => tokens.push(token));
  expect((await github.repository(host.repository)).full_name).toBe(host.repository);
  await github.gitAuthorization(host.repository, false);
  for (let n = 0; n < 2; n++) {
    host.reinstall();
    expect((await github.repository(host.repository)).full_name).toBe(host.repository);
    host.reinstall();
    const header = await github.gitAuthorization(host.repository, true);
    const token = Buffer.from(header.replace("Basic ", ""), "base64").toString().split(":")[1] ?? "";
    expect(host.tokens.has(token)).toBe(true);
    expect(tokens).toContain(token);
  }
});
