import { expect, test } from "bun:test";
import { readConfig } from "./config.ts";

test.each([
  [{}, true],
  [{ AUTH_ENABLED: "true" }, false],
  [{ HOST: "0.0.0.0" }, false],
  [{ HOST: "0.0.0.0", AUTH_ENABLED: "false" }, false],
  [{ PUBLIC_URL: "https://skep.example.org" }, false],
  [{ TRUSTED_PROXIES: "127.0.0.1" }, false],
  [{ HOST: "0.0.0.0", ALLOW_LOCAL_REPOSITORIES: "true" }, true],
  [{ ALLOW_LOCAL_REPOSITORIES: "false" }, false],
])("repositories of this machine are cloned where only it gets in, or where that is set: %j is %j", (env, allowed) => {
  expect(readConfig(env).localRepositories).toBe(allowed);
});

test("headers for the receiver of traces are pairs whose values are percent-encoded; anything else is refused", () => {
  const headersOf = (text: string) => readConfig({ OTEL_EXPORTER_OTLP_HEADERS: text }).otlpHeaders;
  expect(headersOf("authorization=Basic%20YTpi=,x-scope = team")).toEqual({
    authorization: "Basic YTpi=",
    "x-scope": "team",
  });
  for (const wrong of ["authorization", "=x", "a b=c", "a=%zz", "a=x%0d%0ainjected: 1"])
    expect(() => headersOf(wrong)).toThrow("OTEL_EXPORTER_OTLP_HEADERS accepts name=value pairs");
  expect(() => readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://me:word@host" })).toThrow("without a password");
});
