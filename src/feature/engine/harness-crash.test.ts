/** A server is killed while an external agent works: no finished work is lost, and none is done twice. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { endedWords, isEnd, startHarnessRig } from "../../testing/crash/harness-work.ts";
import { dockerForTests } from "../../testing/docker-image.ts";
import type { ReadFrame } from "../../testing/event-reader.ts";

setDefaultTimeout(900_000);
const docker = await dockerForTests(process.env);

/** The points at which the server is killed. `scripts/bench harness` has more for each program. */
const POINTS: readonly [harness: string, point: string, isThere: (frame: ReadFrame) => boolean][] = [
  ["opencode", "its first call has ended", ({ event }) => event === "tool_call_end"],
  [
    "codex",
    "its second call begins",
    ({ event, data }) => event === "tool_call_start" && JSON.stringify(data).includes("two"),
  ],
  [
    "opencode",
    "it says the third thing",
    ({ event, data }) => event === "agent_output" && JSON.stringify(data).includes("Third"),
  ],
];

test.skipIf(!docker).each(POINTS)("%s goes on after the server was killed when %s", async (harness, _, isThere) => {
  const rig = await startHarnessRig(docker!, harness);
  try {
    const run = await rig.begin();
    await rig.until(run, isThere);
    await rig.kill();
    const frames = await rig.until(run, isEnd);
    const { body } = await rig.server.request("GET", `/v1/runs/${run}`);
    expect(body).toMatchObject({ status: "succeeded" });
    const lines = await rig.lines(run);
    // The interrupted call may have happened. Every call that had ended happened, and none happened twice.
    expect(new Set(lines).size).toBe(lines.length);
    const ended = endedWords(frames);
    expect(ended).toContain("one");
    expect(lines).toEqual(expect.arrayContaining(ended));
  } finally {
    await rig.remove();
  }
});
