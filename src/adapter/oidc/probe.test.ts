/** A sign-on provider's discovery document is bounded before it is parsed. */
import { expect, test } from "bun:test";
import { probeOidc } from "./probe.ts";

test("a discovery document of 200,000 values is a finding about discovery, and nothing more is asked", async () => {
  let asked = 0;
  const provider = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url }: Request) {
      asked++;
      const text = `{"issuer":"${new URL(url).origin}","scopes_supported":[${"1,".repeat(200_000)}1]}`;
      return new Response(text, { headers: { "Content-Type": "application/json" } });
    },
  });
  try {
    const settings = { issuer: `http://127.0.0.1:${provider.port}`, clientId: "skep", clientSecret: "secret" };
    const findings = await probeOidc(settings, { redirectUri: null, scopes: ["openid"] });
    expect(findings).toMatchObject([{ check: "discovery", verdict: "fail" }]);
    expect(asked).toBe(1);
  } finally {
    await provider.stop(true);
  }
});
