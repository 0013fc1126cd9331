/** What a program's configuration says of its model. */
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

test("where it is unknown they are told nothing", () => {
  expect(JSON.parse(fileOf("opencode")).provider.skep.models).toEqual({ "custom-lab/m": { name: "custom-lab/m" } });
  expect(Bun.TOML.parse(fileOf("codex"))).not.toHaveProperty("model_context_window");
});
