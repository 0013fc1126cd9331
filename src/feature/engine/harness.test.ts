/**
 * Agents that external programs drive: real programs in locked-down containers, with a scripted model behind the
 * gateway.
 */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { dockerForTests } from "../../testing/docker-image.ts";
import { createRigs, type Rig } from "../../testing/engine-rig.ts";
import { harnessImage } from "../../testing/harness-image.ts";

setDefaultTimeout(900_000);
const rigs = createRigs();
afterEach(rigs.close);
const docker = await dockerForTests(process.env);

const PIPELINE = "id: p\nname: P\nsteps:\n  - { id: one, agent: worker, input: write it, outputs: [summary] }\n";

async function startRig(harness: string, script: string, programs?: Parameters<typeof harnessImage>[1]): Promise<Rig> {
  const image = await harnessImage(docker!, programs);
  return rigs.startRig({
    pipelines: { p: PIPELINE },
    agents: { worker: `---\nharness: ${harness}\nimage: ${image}\nmodel: demo/scripted\n---\nYou work.` },
    script,
    env: { SANDBOX: "docker" },
  });
}

test.skipIf(!docker)("opencode writes a file and completes", async () => {
  const rig = await startRig(
    "opencode",
    `steps:
  one:
    - text: I write it.
      tool_calls: [{ tool: write, input: { filePath: /workspace/made.txt, content: "by opencode" } }]
    - tool_calls: [{ tool: complete, input: { outputs: { summary: written }, summary: done } }]
`,
  );
  const run = rig.create("p");
  const view = await rig.waitForEnd(run.id);
  expect(view.status).toBe("succeeded");
  expect(await Bun.file(`${rig.workspaceOf(run.id)}/made.txt`).text()).toBe("by opencode");
});

test.skipIf(!docker)("codex runs a command and completes", async () => {
  const rig = await startRig(
    "codex",
    `steps:
  one:
    - text: I write it.
      tool_calls: [{ tool: exec_command, input: { cmd: "echo by codex > made.txt" } }]
    - tool_calls: [{ tool: complete, input: { outputs: { summary: written }, summary: done } }]
`,
  );
  const run = rig.create("p");
  const view = await rig.waitForEnd(run.id);
  expect(view.status).toBe("succeeded");
  expect(await Bun.file(`${rig.workspaceOf(run.id)}/made.txt`).text()).toBe("by codex\n");
});

test.skipIf(!docker)("gemini writes a file and completes", async () => {
  const script = `steps:
  one:
    - text: I write it.
      tool_calls: [{ tool: write_file, input: { file_path: /workspace/made.txt, content: "by gemini" } }]
    - tool_calls: [{ tool: complete, input: { outputs: { summary: written }, summary: done } }]
`;
  const rig = await startRig("gemini", script, ["gemini"]);
  const run = rig.create("p");
  const view = await rig.waitForEnd(run.id);
  expect(view.status).toBe("succeeded");
  expect(await Bun.file(`${rig.workspaceOf(run.id)}/made.txt`).text()).toBe("by gemini");
});
