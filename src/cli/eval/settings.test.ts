/** Settings of `task.toml`: they are applied, have no effect, or are refused with what to do. */
import { expect, test } from "bun:test";
import { memoryOf, readSettings } from "./settings.ts";

/** The error for the file; "taken" if there is none. */
function verdictOn(text: string): string {
  try {
    readSettings(text, "t/task.toml");
    return "taken";
  } catch (error) {
    return String((error as Error).message);
  }
}

test("Harbor's own example of what needs nothing special is taken as it is", () => {
  const text = `schema_version = "1.4"
source = "a/b"
artifacts = []
[task]
name = "a/b"
[metadata]
difficulty = "easy"
anything = { at = ["all"] }
[agent]
timeout_sec = 120.5
[verifier]
timeout_sec = 60.0
env = {}
environment_mode = "shared"
[solution]
[environment]
build_timeout_sec = 600.0
os = "linux"
cpus = 2
memory_mb = 4096
storage_mb = 10240
gpus = 0
allow_internet = true
mcp_servers = []
[skep]
reward = true
`;
  const settings = readSettings(text, "t/task.toml");
  expect(settings.agent?.timeout_sec).toBe(120.5);
  expect([settings.environment?.cpus, memoryOf(settings), settings.skep?.reward]).toEqual([2, 4_096, true]);
  expect(memoryOf(readSettings('[environment]\nmemory = "2.5G"\n', "t"))).toBe(2_560);
});

for (const [text, words] of [
  ['[[steps]]\nname = "one"\n', /steps is not followed.*Make each step a task of its own/],
  ['multi_step_reward_strategy = "final"\n', /multi_step_reward_strategy is not followed/],
  ['artifacts = ["/app/out"]\n', /artifacts is not followed/],
  ['[agent]\nuser = "root"\n', /agent\.user is not followed.*one user/],
  ['[agent]\nallowed_hosts = ["a.example"]\n', /agent\.allowed_hosts is not followed/],
  ['[verifier.env]\nKEY = "x"\n', /verifier\.env is not followed.*into the script/],
  ['[verifier]\nenvironment_mode = "separate"\n', /verifier\.environment_mode is not followed/],
  ["[verifier]\ntimeout_sec = nan\n", /verifier\.timeout_sec is not as expected/],
  ["[verifier]\ntimeout_sec = 0\n", /verifier\.timeout_sec is not as expected/],
  ["[agent]\ntimeout_sec = 1e9\n", /agent\.timeout_sec is not as expected/],
  ['[solution.env]\nKEY = "x"\n', /solution\.env is not followed/],
  ['[environment]\ndocker_image = "x/y:1"\n', /docker_image is not followed.*the image x\/y:1/],
  ['[environment]\nos = "windows"\n', /environment\.os is not followed/],
  ["[environment]\ngpus = 1\n", /environment\.gpus is not followed/],
  ["[environment]\nallow_internet = false\n", /allow_internet is not followed.*network:/],
  ['[environment]\nnetwork_mode = "allowlist"\n', /network_mode is not followed/],
  ['[environment]\nmemory = "lots"\n', /environment\.memory is not as expected/],
  ['[environment]\nworkdir = "/app"\n', /environment\.workdir is not followed/],
  ['[environment.healthcheck]\ncommand = "true"\n', /environment\.healthcheck is not followed/],
  ['[skep]\ncommit = "main"\n', /skep\.commit is not as expected/],
  ["[skep]\nrewards = true\n", /does not know the setting skep\.rewards/],
  ["[verifier]\nmin_reward = 0.5\n", /does not know the setting verifier\.min_reward/],
  ["constructor = 1\n", /does not know the setting constructor/],
  ["agent = 1\n", /agent is a table of settings/],
  ['version = "2.0"\n', /version = "2.0" is a form that Skep does not know/],
  ["[agent\n", /is no TOML/],
] as const)
  test(`${JSON.stringify(text)} is refused with what to do`, () => {
    expect(verdictOn(text)).toMatch(words);
    expect(verdictOn(text)).toStartWith("t/task.toml");
  });
