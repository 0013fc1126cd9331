/** `skep usage disk`: who uses how much of the server's disk. */
import type { Command } from "commander";
import type { AnswerOf } from "../api/types.ts";
import { jobEnded } from "./resource/jobs.ts";
import { connect, type ServerFlags, withServer } from "./server/locate.ts";
import { bytesText, tableLines, timeText } from "./terminal/table.ts";

type Usage = NonNullable<AnswerOf<"GET", "/v1/admin/disk">["usage"]>;

export function diskCommand(usage: Command, exit: (code: number) => void): void {
  withServer(usage.command("disk"))
    .description("show who uses how much of the server's disk (administrators only)")
    .option("--last", "show the last measurement instead of measuring now")
    .action(async (_flags, command: Command) => {
      // The parent command has the same server flags and parses them first, so read them with its globals.
      const flags: ServerFlags & { last?: boolean } = command.optsWithGlobals();
      const client = await connect(flags);
      if (!flags.last) {
        const job = await jobEnded(client, await client.call("POST", "/v1/admin/disk/measure"));
        if (job.state !== "succeeded") {
          console.error(`skep: the disk was not measured: ${job.error?.message ?? job.state}`);
          return exit(1);
        }
      }
      const { usage } = await client.call("GET", "/v1/admin/disk");
      if (flags.json) return console.log(JSON.stringify(usage));
      if (usage === null) return console.log("The disk was never measured. Measure it: skep usage disk");
      console.log(linesOf(usage).join("\n"));
    });
}

function linesOf({ database, kinds, users, projects, largest, engine, ...usage }: Usage): string[] {
  const formatTable = (head: string, rows: [name: string, bytes: number][]): string[] =>
    rows.length === 0
      ? []
      : [
          "",
          ...tableLines(
            [
              { head, of: ([name]) => name, shrinks: true },
              { head: "SIZE", of: ([, bytes]) => bytesText(bytes), right: true },
            ],
            rows,
          ),
        ];
  return [
    `${bytesText(usage.total_bytes)} in all, measured ${timeText(usage.measured_at)}`,
    `database: ${bytesText(database.bytes)}, of that free: ${bytesText(database.free_bytes)}; write-ahead log: ${bytesText(database.wal_bytes)}`,
    ...formatTable(
      "KIND",
      kinds.map(({ kind, count, bytes }) => [`${kind} (${count.toLocaleString("en")})`, bytes]),
    ),
    ...formatTable(
      "USER",
      users.map(({ user_id, name, bytes }) => [name ?? user_id ?? "nobody", bytes]),
    ),
    ...formatTable(
      "PROJECT",
      projects.map(({ project_id, name, bytes }) => [name ?? `${project_id} (deleted)`, bytes]),
    ),
    ...formatTable(
      "LARGEST",
      largest.map(({ id, name, bytes }) => [name === null ? id : `${id} ${name}`, bytes]),
    ),
    ...formatTable(
      "IN THE CONTAINER ENGINE",
      (engine ?? []).map(({ kind, project_id, name, count, bytes }) => [
        `${kind} of ${name ?? `${project_id} (deleted)`} (${count.toLocaleString("en")})`,
        bytes,
      ]),
    ),
    ...(engine === null ? ["", "The container engine did not answer: caches and set-ups were not measured."] : []),
  ];
}
