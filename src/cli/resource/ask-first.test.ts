/** Commands that delete what cannot be got back ask a person first. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { skepCommand, startServer } from "../../testing/server.ts";
import { openTerminal } from "../../testing/terminal.ts";

setDefaultTimeout(300_000);

test("a provider's key is deleted only after a yes, or with --yes", async () => {
  const server = await startServer();
  try {
    const path = "/v1/settings/providers/anthropic";
    const body = { api_key: "sk-ant-to-be-kept" };
    expect((await server.request("PUT", path, { body })).status).toBe(200);
    const isConfigured = async () => (await server.request<{ configured: boolean }>("GET", path)).body.configured;
    const remove = (...flags: string[]) =>
      openTerminal(skepCommand("providers", "remove", "anthropic", ...flags, "--url", server.url), { columns: 100 });
    const refused = remove();
    await refused.shows(/Delete anthropic with its key\?/);
    refused.type("n\r");
    expect(await refused.exited).toBe(1);
    expect(await isConfigured()).toBe(true);
    expect(await remove("--yes").exited).toBe(0);
    expect(await isConfigured()).toBe(false);
  } finally {
    await server.remove();
  }
});
