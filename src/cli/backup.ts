/** `skep backup` and `skep restore`: the data folder as one file, without stopping the server. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { AnswerOf } from "../api/types.ts";
import { readConfig } from "../core/config.ts";
import { badUsage } from "../core/errors.ts";
import { loadAppForData } from "./load-app.ts";
import { assertPath } from "./read-input.ts";
import { say } from "./resource/command.ts";
import { connect, onlyServer, type ServerFlags, withServer } from "./server/locate.ts";
import { bytesText, type Column, tableLines, timeText } from "./terminal/table.ts";

interface Flags {
  data?: string;
  json?: boolean;
  keys?: boolean;
  list?: boolean;
  activate?: boolean;
}

export function backupCommands(program: Command, exit: (code: number) => void): void {
  program
    .command("backup")
    .description("write the data folder into one file, even while its server runs")
    .argument("[file]", "file to write, e.g. skep-monday.tar.gz")
    .option("--data <dir>", "data folder to back up (env: DATA; default: ./data, else that of your running server)")
    .option("--list", "list the backups that the running server made, and show its backup schedule")
    .option("--no-keys", "leave out the keys that secrets are sealed with; store them elsewhere")
    .option("--json", "print JSON instead of text")
    .action(async (file: string | undefined, flags: Flags) => {
      if (flags.list) return say(flags, await listBackups(flags), exit);
      if (!file?.trim()) throw badUsage("Name the file to write, e.g. skep backup skep-monday.tar.gz, or --list.");
      assertPath(file);
      const { writeBackup } = await loadAppForData();
      const data = await dataToWrite(flags);
      const report = await writeBackup(data, file, { withoutKeys: flags.keys === false, progress: progressOf(flags) });
      const keys = report.keys
        ? "It holds the keys of your secrets: keep it where nobody else reads it."
        : "It holds no keys: secrets in it can be read only with keys/ of the data folder, or SECRET_ENCRYPTION_KEY.";
      const text = [
        `${file}: ${report.files} files of ${data}, ${bytesText(report.bytes)} before packing`,
        ...leftOutText(report.left_out),
        keys,
      ];
      say(flags, { json: { file, data, ...report }, text }, exit);
    });
  program
    .command("restore")
    .description("put a backup into an empty data folder; start a server on it afterwards")
    .argument("<file>", "backup file that skep backup wrote")
    .option("--data <dir>", "empty data folder to restore into (env: DATA; default: ./data)")
    .option(
      "--activate",
      "let the server work from its first start, without skep activate; only if the original is gone",
    )
    .option("--json", "print JSON instead of text")
    .action(async (file: string, flags: Flags) => {
      assertPath(file);
      const { restoreBackup, markRestored } = await loadAppForData();
      const data = dataOf(flags);
      const report = await restoreBackup(file, data);
      const isActive = flags.activate === true;
      markRestored(data, { isActive });
      const keys = report.keys
        ? []
        : ["It held no keys: put keys/ back, or set SECRET_ENCRYPTION_KEY, before you start."];
      const standby = isActive
        ? []
        : ["A server on it stands by: agents, routines, webhooks and notifications wait for: skep activate"];
      const text = [`${data}: ${report.files} files`, ...keys, ...standby, `Next: skep doctor --data ${data}`];
      say(flags, { json: { file, data, ...report }, text }, exit);
    });
}

async function listBackups({ data, json }: Flags) {
  const client = await connect({ ...(data === undefined ? {} : { data }), ...(json ? { json } : {}) });
  const [{ items, next_cursor }, schedule] = await Promise.all([
    client.call("GET", "/v1/admin/backups?limit=200"),
    client.call("GET", "/v1/admin/backup-schedule"),
  ]);
  const columns: Column<(typeof items)[number]>[] = [
    { head: "backup", of: ({ id }) => id },
    { head: "made", of: ({ created_at }) => timeText(created_at) },
    { head: "size", of: ({ bytes }) => bytesText(bytes), right: true },
    { head: "by", of: ({ scheduled }) => (scheduled ? "schedule" : "hand") },
  ];
  const rows = items.length === 0 ? ["There is no backup yet."] : tableLines(columns, items);
  const more = next_cursor === null ? [] : ["There are more: GET /v1/admin/backups lists all."];
  return { json: { items, schedule }, text: [...rows, ...more, ...scheduleText(schedule)] };
}

function scheduleText(of: AnswerOf<"GET", "/v1/admin/backup-schedule">): string[] {
  if (of.schedule === null)
    return ["None is made by itself. One every night: skep settings set backup.schedule='30 3 * * *'"];
  return [
    `Schedule: ${of.schedule} ${of.timezone}, into ${of.folder}; next ${timeText(of.next_at)}`,
    `Last success: ${of.last_success_at === null ? "none yet" : timeText(of.last_success_at)}`,
    ...(of.error === null ? [] : [`The newest failed: ${of.error.message}`]),
    ...(of.overdue ? ["A backup is overdue."] : []),
  ];
}

/** `skep activate`: a server on a copied data folder stands by; from this command on it works. */
export function activateCommand(program: Command, exit: (code: number) => void): void {
  withServer(program.command("activate"))
    .description("let a server on a restored or copied data folder start to work; stop the original first")
    .action(async (flags: ServerFlags) => {
      const client = await connect(flags);
      await client.call("POST", "/v1/admin/activate");
      say(flags, { json: { url: client.url, standby: null }, text: [`${client.url} works from now on.`] }, exit);
    });
}

/**
 * Chooses, in this order: --data, DATA, ./data if it holds a database, the data folder of this user's running server.
 * @throws Problem 503 `no_server` when several servers run.
 */
async function dataToWrite(flags: Flags): Promise<string> {
  const { data, sources } = readConfig(process.env, { data: flags.data });
  if (sources.data !== "default" || existsSync(join(data, "skep.db"))) return data;
  return (await onlyServer())?.data ?? data;
}

const dataOf = ({ data }: Flags): string => readConfig(process.env, { data }).data;

const NAMED = 5;

/** Describes the files that were left out. At most 100 of their paths are reported. */
function leftOutText(paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const more = paths.length > NAMED ? " and more (--json names them)" : "";
  return [`Left out: links that lead away, and files that agents closed: ${paths.slice(0, NAMED).join(", ")}${more}.`];
}

/** Counts files and bytes on one line of the terminal. */
function progressOf({ json }: Flags): (report: { files: number; bytes: number }) => void {
  if (json || !process.stderr.isTTY) return () => {};
  let shown = 0;
  return ({ files, bytes }) => {
    if (Date.now() - shown < 100) return;
    shown = Date.now();
    process.stderr.write(`\r${files} files, ${bytesText(bytes)}\x1b[K\r`);
  };
}
