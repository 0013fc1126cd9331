/** A code host's answers are bounded before a client parses them. */
import { expect, test } from "bun:test";
import { createHostFetch } from "./host-fetch.ts";

test.each([
  ["300,000 lists", `[${"[],".repeat(300_000)}[]]`, "made of more than 100000 values"],
  ["1,000 lists in one another", `${"[".repeat(1_000)}${"]".repeat(1_000)}`, "nested more than 200 levels deep"],
])("an answer of %s is refused in a sentence", async (_what, body, fault) => {
  const headers = { "Content-Type": "application/json" };
  const host = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(body, { headers }) });
  try {
    const asked = createHostFetch()(`http://127.0.0.1:${host.port}/`);
    await expect(asked).rejects.toMatchObject({
      status: 502,
      code: "codehost_failed",
      detail: `The code host's answer is ${fault}.`,
    });
  } finally {
    await host.stop(true);
  }
});
