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

test.each([
  [
    "FETCH_ALLOW",
    "nas.lan, 10.0.0.0/8, ::1, [::1], fd00::/8",
    ["[fd00::]/8", "127.0.0.1:9000", "https://nas.lan", "10.0.0.0/33"],
  ],
  ["NOTIFY_ALLOW", "ntfy.lan", ["ntfy.lan:80"]],
  ["TRUSTED_PROXIES", "127.0.0.1, 172.18.0.0/16, fd00::/8", ["proxy.lan", "[::1]", "10.0.0.0/33", "10.0.0.1:80"]],
  ["ALLOWED_HOSTS", "skep.example.org, skep.lan:8000", ["https://skep.example.org", "*.example.org"]],
  [
    "CORS_ORIGINS",
    "https://app.example.org, moz-extension://a1",
    ["app.example.org", "https://app.example.org/page", "*"],
  ],
])("%s takes what its list may hold, and what would never match is refused by the option's name", (name, good, bad) => {
  expect(readConfig({ [name]: good })).toBeDefined();
  for (const wrong of bad) expect(() => readConfig({ [name]: `${good},${wrong}` })).toThrow(`${name} accepts`);
});

test("an origin counts with and without a slash at its end", () => {
  expect(readConfig({ CORS_ORIGINS: "https://App.example.org/" }).corsOrigins).toEqual(["https://app.example.org"]);
});
