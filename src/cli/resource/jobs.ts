/** `skep jobs`: background work of the server. */
import type { RowOf } from "../../api/types.ts";
import type { Client } from "../server/client.ts";
import { countColumns, fit, isLive, oneLine } from "../terminal/style.ts";
import { timeText } from "../terminal/table.ts";
import { type Resource, verbMakers } from "./resource.ts";
import { statusStyle } from "./words.ts";

type List = "/v1/jobs";
type Item = RowOf<List>;
const { actOnOne } = verbMakers<List>();

const LOOK_MS = 500;
const isOver = ({ state }: Item): boolean => !["queued", "running"].includes(state);

export const jobs: Resource<List> = {
  name: "jobs",
  one: "job",
  about: "list the jobs that the server does in the background, or show one",
  path: "/v1/jobs",
  idOf: ({ id }) => id,
  columns: [
    { head: "JOB", of: ({ id }) => id },
    { head: "KIND", of: ({ kind }) => kind },
    { head: "STATE", of: ({ state }) => state, style: ({ state }) => statusStyle(state) },
    {
      head: "DONE",
      of: ({ percent, state }) => (percent === null ? "" : `${Math.round(state === "succeeded" ? 100 : percent)} %`),
      right: true,
    },
    { head: "BEGUN", of: ({ created_at }) => timeText(created_at) },
    { head: "OF", of: ({ subject }) => subject, shrinks: true },
    // The last step of a finished job is not interesting, so it is not shown.
    {
      head: "DETAIL",
      of: ({ error, detail, state }) => error?.message ?? (state === "succeeded" ? "" : detail),
      shrinks: true,
      optional: true,
    },
  ],
  empty: "No background jobs yet.",
  verbs: [
    actOnOne("wait", "wait until a job has ended; exit 1 when it failed", async ({ client, item }) => {
      const job = await jobEnded(client, item);
      const why = job["error"]?.message ?? job["detail"] ?? "";
      const text = `${job["id"]} ${job["state"]}${why ? `: ${why}` : ""}`;
      return { json: job, text, code: job["state"] === "succeeded" ? 0 : 1 };
    }),
    actOnOne("cancel", "cancel a job", async ({ client, path }) => {
      const job = await client.call("POST", `${path}/cancel`);
      return { json: job, text: `${job["id"]} ${job["state"]}` };
    }),
  ],
};

/** Waits until a job has ended. On a terminal it shows the progress. */
export async function jobEnded(client: Client, started: Item): Promise<Item> {
  const isShown = process.stderr.isTTY === true && isLive();
  for (let job = started; ; job = await client.call("GET", `/v1/jobs/${started["id"]}`)) {
    if (isShown) process.stderr.write(`\r\x1b[K${isOver(job) ? "" : progressText(job)}`);
    if (isOver(job)) return job;
    await Bun.sleep(LOOK_MS);
  }
}

const progressText = ({ subject, percent, detail }: Item): string =>
  fit(
    [subject, percent === null ? "" : `${Math.round(percent)} %`, detail]
      .filter(Boolean)
      .map((part) => oneLine(String(part)))
      .join("  "),
    countColumns() - 1,
  );
