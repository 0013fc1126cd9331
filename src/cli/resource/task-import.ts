/** `skep tasks import`: creates many tasks from a file. */

import { unreadable } from "../../core/errors.ts";
import { listIn, membersOf, textIn } from "../../core/is-object.ts";
import { readText } from "../read-input.ts";
import { formatCount } from "../terminal/table.ts";
import { jobEnded } from "./jobs.ts";
import type { Answer, Call } from "./resource.ts";

/** Parses a JSON or YAML file. @throws Problem 422 that names the file. */
export async function readData(file: string): Promise<unknown> {
  const text = await readText(file);
  try {
    return Bun.YAML.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : "";
    throw unreadable(`${file === "-" ? "Standard input" : file} is neither JSON nor YAML (${why}).`);
  }
}

/** @throws Problem 422 for a file that contains no tasks. */
export async function importTasks({
  client,
  path,
  args: [file],
  flags,
}: Call<unknown, `/v1/projects/${string}/tasks`>): Promise<Answer> {
  const data = await readData(file!);
  const tasks = Array.isArray(data) ? data : membersOf(data)["tasks"];
  if (!Array.isArray(tasks)) throw unreadable('The file has no list of tasks. Write [{"title": "…"}, …].');
  const started = await client.call("POST", `${path}/import`, { tasks });
  if (flags["wait"] === false) return { json: started, text: `importing, as job ${started["id"]}` };
  const job = await jobEnded(client, started);
  if (job["state"] !== "succeeded")
    return { json: job, text: `The import ended: ${job["error"]?.message ?? job["state"]}`, code: 1 };
  const { created, refused_count } = membersOf(job.result);
  const text = [
    `${formatCount(Number(created), "task")} ${created === 1 ? "is" : "are"} on the board.`,
    ...(refused_count === 0 ? [] : [`${refused_count} were refused:`]),
    ...listIn(job.result, "refused").map((one) => `  ${textIn(one, "title")}: ${textIn(one, "message")}`),
  ];
  return { json: job, text, ...(refused_count === 0 ? {} : { code: 1 }) };
}
