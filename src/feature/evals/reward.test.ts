/** Reads the rewards that tests write, through the command that reports them in a sandbox. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../testing/command.ts";
import { outcomeOf } from "./outcome.ts";
import { REPORT_REWARD } from "./reward.ts";

/** The outcome of an attempt whose tests wrote the contents of that folder. */
function outcomeAfter(make: (folder: string) => void, printed = "ok", code = 0) {
  const folder = temporaryFolder();
  make(folder.path);
  const { stdout } = spawnSync("sh", ["-c", `l=$1; ${REPORT_REWARD}`, "sh", folder.path], { encoding: "utf8" });
  folder.remove();
  const check = { step_id: "check", status: code === 0 ? ("succeeded" as const) : ("failed" as const), error: null };
  const outputs = { output: `${printed}${stdout.trimEnd()}`, exit_code: code };
  return outcomeOf({ status: code === 0 ? "succeeded" : "failed", error: null }, [{ ...check, outputs }], true);
}
const text =
  (content: string | Uint8Array, name = "reward.txt") =>
  (folder: string) =>
    writeFileSync(join(folder, name), content);

for (const content of ["1", "1\n", " 1.0 \n", "1e0", "+1."])
  test(`${JSON.stringify(content)} passes`, () => {
    expect(outcomeAfter(text(content))).toEqual({ status: "passed", reason: null });
    // As in Harbor, the reward decides, whatever the exit code of test.sh.
    expect(outcomeAfter(text(content), "odd", 3)).toEqual({ status: "passed", reason: null });
  });

for (const content of ["0", "0.999", "1e-3", "-0"])
  test(`${JSON.stringify(content)} fails`, () => {
    const { status, reason } = outcomeAfter(text(content));
    expect([status, reason]).toEqual(["failed", expect.stringMatching(/^The reward is \S+; 1 passes\.$/)]);
  });

test("reward.json is read by its member reward alone", () => {
  expect(outcomeAfter(text('{"reward": 1, "speed": 7}', "reward.json")).status).toBe("passed");
  expect(outcomeAfter(text('{"reward": 0.25}', "reward.json")).status).toBe("failed");
});

const odd: [title: string, make: (folder: string) => void, reason: RegExp][] = [
  ["is missing", () => {}, /wrote no reward: test\.sh must write/],
  ["is empty", text(" \n"), /is empty/],
  ["is NaN", text("nan"), /is not a number: "nan"/],
  ["is infinite", text("inf"), /is not a number/],
  ["overflows", text("1e999"), /is outside of 0 to 1/],
  ["is a word", text("passed"), /is not a number: "passed"/],
  ["is two numbers", text("1\n1\n"), /is not a number/],
  ["is hexadecimal", text("0x1"), /is not a number/],
  ["holds a NUL", text(Uint8Array.of(0x31, 0)), /is not a number/],
  ["is below 0", text("-0.5"), /is outside of 0 to 1: "-0.5"/],
  ["is above 1", text("1.01"), /is outside of 0 to 1/],
  ["is huge", text("1".padEnd(1_025, "0")), /is longer than 1024 bytes/],
  [
    "is a file of a terabyte without blocks",
    (folder) => {
      text("1")(folder);
      truncateSync(join(folder, "reward.txt"), 2 ** 40);
    },
    /is longer than 1024 bytes/,
  ],
  [
    "is a link to what says 1",
    (folder) => {
      text("1", "other")(folder);
      symlinkSync(join(folder, "other"), join(folder, "reward.txt"));
    },
    /is a symbolic link/,
  ],
  ["is a link to nothing", (folder) => symlinkSync("nowhere", join(folder, "reward.txt")), /is a symbolic link/],
  ["is a folder", (folder) => mkdirSync(join(folder, "reward.txt")), /is no regular file/],
  ["is a pipe", (folder) => void spawnSync("mkfifo", [join(folder, "reward.txt")]), /is no regular file/],
  [
    "is given twice",
    (folder) => {
      text("1")(folder);
      text('{"reward": 1}', "reward.json")(folder);
    },
    /more than one reward/,
  ],
  ["is JSON without the member", text('{"score": 1}', "reward.json"), /is not a number/],
  ["is text in JSON", text('{"reward": "1"}', "reward.json"), /is not a number/],
  ["is nested", text("[".repeat(1_000), "reward.json"), /is not a number/],
];
for (const [title, make, reason] of odd)
  test(`a reward that ${title} is an error, never a pass`, () => {
    expect(outcomeAfter(make)).toEqual({ status: "error", reason: expect.stringMatching(reason) });
  });

test("a report that the agent's own code printed is no reward", () => {
  const forged = "skep-reward reward.txt bytes:31\n";
  expect(outcomeAfter(text("0"), forged)).toEqual({
    status: "error",
    reason: expect.stringContaining("more than one"),
  });
  // The command around the tests was killed before it printed its own report.
  expect(outcomeAfter(() => {}, forged, 137).status).toBe("error");
});
