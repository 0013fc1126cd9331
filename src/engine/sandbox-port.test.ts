/**
 * The engine with sandboxes that it knows only by their port: agents read what the sandbox says of itself, wherever the
 * files are.
 */
import { afterEach, expect, test } from "bun:test";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProcessSandboxes } from "../adapter/sandbox/process/driver.ts";
import { createRigs } from "../testing/engine-rig.ts";
import { createHandModel } from "../testing/hand-model.ts";
import type { SandboxDriver } from "./sandbox.ts";

const rigs = createRigs();
const folders: string[] = [];
afterEach(async () => {
  await rigs.close();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** A driver with files in a folder of its own, as on another machine: copied in at the start, and back on request. */
function elsewhere(allowHostShell: boolean): SandboxDriver {
  const near = createProcessSandboxes({ allowHostShell });
  return {
    ...near,
    name: "elsewhere",
    about: async () => ({
      files: "Your files are far away.",
      commands: "You are the guest here.",
      network: "It is slow.",
    }),
    async start(spec, signal) {
      const folder = await mkdtemp(join(tmpdir(), "skep-elsewhere-"));
      folders.push(folder);
      await cp(spec.home, folder, { recursive: true });
      const sandbox = await near.start({ ...spec, home: folder }, signal);
      const bringBack = () => cp(folder, spec.home, { recursive: true });
      return { ...sandbox, workspace: { ...sandbox.workspace, bringBack } };
    },
  };
}

const PIPELINE =
  "id: two\nname: Two\nsteps:\n  - { id: one, agent: worker, input: One }\n  - { id: two, agent: worker, input: Two }\n";

test.each([true, false])("a driver whose files are elsewhere works like any other (shell: %p)", async (shell) => {
  const model = createHandModel();
  const rig = await rigs.startRig({ pipelines: { two: PIPELINE }, models: model, sandboxes: elsewhere(shell) });
  const run = rig.create("two");
  const first = await model.next();
  const { system } = first.request;
  expect(system).toContain("Your files are far away.");
  expect(system.includes("You are the guest here. It is slow.")).toBe(shell);
  expect(system.includes("There is no shell here")).toBe(!shell);
  expect(first.request.tools.some(({ name }) => name === "bash")).toBe(shell);
  first.reply([{ tool: "write", input: { path: "from-one", content: "kept" } }]);
  const second = await model.next();
  expect(await Bun.file(join(rig.workspaceOf(run.id), "from-one")).text()).toBe("kept");
  second.reply([{ tool: "complete", input: { summary: "done" } }]);
  (await model.next()).reply([{ tool: "read", input: { path: "from-one" } }]);
  const last = await model.next();
  expect(JSON.stringify(last.request.messages.at(-1))).toContain("kept");
  last.reply([{ tool: "complete", input: { summary: "done" } }]);
  expect((await rig.waitForEnd(run.id)).status).toBe("succeeded");
});
