/** `skep projects setup`: installs once what a project's code needs, and runs the project's check. */
import type { Schemas } from "../../api/types.ts";
import { badUsage } from "../../core/errors.ts";
import { fieldLines, timeText } from "../terminal/table.ts";
import { jobEnded } from "./jobs.ts";
import { verbMakers } from "./resource.ts";

const { actOnOne } = verbMakers<"/v1/projects">();
type Setup = Schemas["ProjectSetup"];

export const setupVerb = actOnOne(
  "setup",
  "install what a project's code needs, once, and run its check; exit 1 when either fails",
  {
    options: [
      { flags: "--again", about: "set up again, even if nothing has changed since the last time" },
      { flags: "--show", about: "show the last set-up, and start none" },
      { flags: "--clear", about: "remove what the project's set-ups have left" },
      { flags: "--no-wait", about: "return at once; do not wait until the job has ended" },
    ],
    async run({ client, item, path, flags }) {
      const again: true | undefined = flags["again"];
      const [isShown, clears]: (true | undefined)[] = [flags["show"], flags["clear"]];
      const address = `${path}/setup` as const;
      const name = item["name"];
      if ([again, isShown, clears].filter(Boolean).length > 1)
        throw badUsage("Give one of --again, --show and --clear.");
      if (clears) {
        await client.call("DELETE", address);
        return { json: { deleted: true }, text: `${name}: nothing is kept of its set-ups` };
      }
      if (!isShown) {
        const job = await client.call("POST", address, again ? { again } : {});
        if (flags["wait"] === false) return { json: job, text: `${name}: being set up, as job ${job["id"]}` };
        const ended = await jobEnded(client, job);
        if (ended["state"] !== "succeeded" && ended["error"]?.code !== "setup_failed")
          return { json: ended, text: `${name}: not set up: ${ended["error"]?.message ?? ended["state"]}`, code: 1 };
      }
      const now = await client.call("GET", address);
      const isWell = now["last"]?.state !== "failed" && now["check"]?.passed !== false;
      return { json: now, text: linesOf(name, now), ...(isWell || isShown ? {} : { code: 1 }) };
    },
  },
);

function linesOf(name: string, { state, detail, last, check }: Setup): string[] {
  const lines = [`${name}: ${state}. ${detail}`];
  if (last)
    lines.push(
      ...fieldLines([
        [
          "set up",
          `${timeText(last["made_at"])}, in ${last["seconds"].toFixed(1)} s, at ${last["commit"].slice(0, 8)}`,
        ],
        ["image", last["image"] && `${last["image"]} (${(last["image_bytes"] / 1e6).toFixed(1)} MB)`],
      ]),
      ...logLines(last["log"]),
    );
  if (!check) return lines;
  const ended = check["exit_code"] === null ? "it did not end" : `exit code ${check["exit_code"]}`;
  const found = check["passed"] ? "passes" : `fails (${ended}), before any agent has changed something`;
  return [...lines, `check \`${check["command"]}\` ${found}`, ...(check["passed"] ? [] : logLines(check["log"]))];
}

const LINES = 30;

/** The last lines of a log. */
function logLines(log: string): string[] {
  const lines = log === "" ? [] : log.trimEnd().split("\n");
  return lines.slice(-LINES).map((line) => `  | ${line}`);
}
