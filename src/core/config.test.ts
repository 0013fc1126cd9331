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
