/** What a program's configuration says about its model. */
import { expect, test } from "bun:test";
import { launchOf } from "./definitions.ts";

const PLACE = { gateway: "http://127.0.0.1:1", token: "t", model: "custom-lab/m", state: "/skep/state" };
const fileOf = (harness: "opencode" | "codex", window?: number): string =>
  Object.values(launchOf(harness, { ...PLACE, window }).files)[0] ?? "";

test("opencode and codex are told the window that is really served", () => {
  const { provider } = JSON.parse(fileOf("opencode", 40_960));
  expect(provider.skep.models).toEqual({
    "custom-lab/m": { name: "custom-lab/m", limit: { context: 40_960, output: 10_240 } },
  });
  expect(Bun.TOML.parse(fileOf("codex", 40_960))).toMatchObject({
    model: "custom-lab/m",
    model_context_window: 40_960,
  });
});

test("what a repository says reaches them only as the prompt quotes it, not from files that work has changed", () => {
  expect(Bun.TOML.parse(fileOf("codex"))).toMatchObject({ project_doc_max_bytes: 0 });
  expect(launchOf("opencode", PLACE).env).toMatchObject({ OPENCODE_DISABLE_PROJECT_CONFIG: "1" });
});

test("where it is unknown they are told nothing", () => {
  expect(JSON.parse(fileOf("opencode")).provider.skep.models).toEqual({ "custom-lab/m": { name: "custom-lab/m" } });
  expect(Bun.TOML.parse(fileOf("codex"))).not.toHaveProperty("model_context_window");
});

test("opencode finds its package for plugins installed, and no configuration of a repository lifts its questions", () => {
  const { env, files } = launchOf("opencode", PLACE);
  const lock = JSON.parse(files["/skep/state/config/opencode/package-lock.json"] ?? "{}");
  expect(lock.packages[""].dependencies).toHaveProperty("@opencode-ai/plugin");
  expect(Object.keys(files)).toContainEqual(expect.stringMatching(/\/config\/opencode\/node_modules\/./));
  expect(env["XDG_CONFIG_HOME"]).toBe("/skep/state/config");
  expect(JSON.parse(env["OPENCODE_PERMISSION"] ?? "{}")).toEqual({ edit: "ask", bash: "ask", webfetch: "ask" });
});
