/**
 * Deletes an object with all that belongs to it: `skep runs delete`, `skep chats delete`, `skep projects delete
 * --everything` and similar commands.
 */
import type { AnswerOf } from "../../api/types.ts";
import { Problem } from "../../core/errors.ts";
import type { Client } from "../server/client.ts";
import { bytesText, formatCount } from "../terminal/table.ts";
import { jobEnded } from "./jobs.ts";
import type { Answer, Call, Flags, OptionSpec } from "./resource.ts";
import { assertMeant, YES } from "./words.ts";

type Kind = "runs" | "sessions" | "projects" | "users";
type Preview = AnswerOf<"GET", `/v1/history/runs/${string}`>;

const EVERYTHING: OptionSpec = {
  flags: "--everything",
  about: "also delete all runs, chats, files and texts that belong to it; nobody inherits them",
};
export const DELETE_OPTIONS: readonly OptionSpec[] = [
  YES,
  { flags: "--preview", about: "print what would be deleted and what would stay, and delete nothing" },
  { flags: "--no-wait", about: "return at once; do not wait until the job has ended" },
];

/** The part of `delete` that removes an object with all that belongs to it. */
export const everythingOf = (kind: "projects" | "users") => ({
  options: [EVERYTHING, ...DELETE_OPTIONS.filter((option) => option !== YES)],
  run: ({ client, item, flags }: Call<{ id: string }>, what: string) =>
    deleteHistory(client, { kind, id: item.id, what, flags }),
});

const COUNTED = [
  ["runs", "run"],
  ["sessions", "transcript"],
  ["messages", "message"],
  ["attachments", "file"],
  ["tasks", "task"],
  ["documents", "document"],
  ["routines", "routine"],
  ["memories", "memory"],
] as const;

/** Describes what will be deleted: `3 runs, 5 transcripts, 120.0 MB in 3 folders`. */
function goesText(preview: Preview): string {
  const counts = COUNTED.flatMap(([field, one]) => {
    const count = preview[field];
    return count === 0 ? [] : [`${count} ${count === 1 ? one : one.endsWith("y") ? "memories" : `${one}s`}`];
  });
  const folders =
    preview.folders === 0 ? [] : [`${bytesText(preview.bytes)} in ${formatCount(preview.folders, "folder")}`];
  return [...counts, ...folders].join(", ");
}

/**
 * Asks the person, deletes, and waits for the end. @param what e.g. `run run_…`. @throws Problem 400 `stopped`, 409
 * `history_active`.
 */
export async function deleteHistory(
  client: Client,
  { kind, id, what, flags }: { kind: Kind; id: string; what: string; flags: Flags },
): Promise<Answer> {
  const path = `/v1/history/${kind}/${id}` as const;
  const preview: Preview = await client.call("GET", path);
  const goes = goesText(preview);
  if (flags["preview"])
    return {
      json: preview,
      text: [`goes: ${what}${goes ? `: ${goes}` : ""}`, ...preview.stays.map((one) => `stays: ${one}`)],
    };
  if (preview.active > 0)
    throw new Problem(
      409,
      "history_active",
      `${preview.active} of it are at work. Cancel them, or wait until they have ended.`,
    );
  await assertMeant(`Delete ${what} with everything${goes ? `: ${goes}` : ""}? It cannot be brought back.`, flags);
  const started = await client.call("DELETE", path);
  if (flags["wait"] === false) return { json: started, text: `deleting ${what}, as job ${started.id}` };
  const job = await jobEnded(client, started);
  if (job.state !== "succeeded")
    return { json: job, text: `${what} was not deleted: ${job.error?.message ?? job.state}`, code: 1 };
  const earlier = Number(job.result?.["earlier_backups"] ?? 0);
  const backups = earlier === 0 ? "" : `; ${earlier} earlier backups in the data folder still hold it`;
  return { json: job, text: `deleted ${what}${backups}` };
}
