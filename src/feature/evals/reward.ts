/**
 * The reward that a task's tests wrote, in Harbor's form: `reward.txt` with one number, or `reward.json` with the
 * member `reward`. The file stays in the sandbox, where agents' code may have replaced it by anything. So the command
 * around the tests reads it there and prints one line with a limited number of its bytes; the server opens no file.
 * Anything but one number from 0 to 1 is a fault of the task, and never a pass.
 */

import { attempt } from "../../core/attempt.ts";
import { membersOf } from "../../core/is-object.ts";
import { readJson } from "../../core/json-reader.ts";

type Reward = { value: number } | { fault: string };

const FILES = ["reward.txt", "reward.json"] as const;
/** The start of a line of the report. */
const MARK = "skep-reward";
const REWARD_BYTES = 1_024;
const SHOWN_CHARACTERS = 40;
const ASK = `test.sh must write one number from 0 to 1 to $VERIFIER_LOGS/${FILES[0]}`;

/**
 * A command that reports the files in the folder `$l`. It prints bytes in hexadecimal, so that none is lost or misread.
 */
export const REPORT_REWARD = [
  `for f in ${FILES.join(" ")}; do`,
  `if [ -L "$l" ] || [ -L "$l/$f" ]; then printf '\\n${MARK} %s link\\n' "$f";`,
  `elif [ -f "$l/$f" ]; then printf '\\n${MARK} %s bytes:' "$f"; head -c ${REWARD_BYTES + 1} "$l/$f" | od -An -v -tx1 | tr -d ' \\n'; echo;`,
  `elif [ -e "$l/$f" ]; then printf '\\n${MARK} %s odd\\n' "$f"; fi; done`,
].join(" ");

/** @param output of the command. The tests' own lines come before the report. */
export function rewardIn(output: string): Reward {
  const reports = output.split("\n").filter((line) => line.startsWith(`${MARK} `));
  if (reports.length === 0) return { fault: `Its tests wrote no reward: ${ASK}.` };
  if (reports.length > 1) return { fault: `Its tests wrote more than one reward: ${ASK}, and nothing else.` };
  const [, name = "", found = ""] = reports[0]!.split(" ");
  if (found === "link") return { fault: `The reward ${name} is a symbolic link: ${ASK}.` };
  const hex = /^bytes:([0-9a-f]*)$/.exec(found)?.[1];
  if (hex === undefined) return { fault: `The reward ${name} is no regular file: ${ASK}.` };
  const bytes = Buffer.from(hex, "hex");
  if (bytes.length > REWARD_BYTES) return { fault: `The reward ${name} is longer than ${REWARD_BYTES} bytes: ${ASK}.` };
  const text = bytes.toString().trim();
  if (text === "") return { fault: `The reward ${name} is empty: ${ASK}.` };
  const shown = JSON.stringify(text.slice(0, SHOWN_CHARACTERS));
  const value = name === "reward.json" ? numberInJson(text) : numberIn(text);
  if (value === undefined) return { fault: `The reward ${name} is not a number: ${shown}. ${ASK}.` };
  if (value < 0 || value > 1) return { fault: `The reward ${name} is outside of 0 to 1: ${shown}. ${ASK}.` };
  return { value };
}

/** Reads a decimal number; `NaN`, `inf`, `0x1` and `1_0` are invalid. */
function numberIn(text: string): number | undefined {
  const value = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  return Number.isNaN(value) ? undefined : value;
}

function numberInJson(text: string): number | undefined {
  const value = membersOf(attempt(() => readJson(text)))["reward"];
  return typeof value === "number" && !Number.isNaN(value) ? value : undefined;
}
