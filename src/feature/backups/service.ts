/**
 * Backups made by the server. They exist only as files, so a restored database never lists backups that are gone. The
 * name of a scheduled backup contains a tag of this instance: where several servers share a folder, each removes only
 * its own. No backup contains the keys, because the right to download one does not include the right to read every
 * secret.
 */
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type as t } from "@sinclair/typebox";
import { attempt } from "../../core/attempt.ts";
import { expectFound, Problem } from "../../core/errors.ts";
import { defineJob, type EndedJob, type RunningJob } from "../../core/jobs.ts";
import { ownJson } from "../../core/own-json.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import { type ListAnswer, type Page, pageOfArray } from "../../http/list.ts";
import type { createBackupWriter } from "../../store/backup-worker.ts";
import type { Core } from "../feature.ts";
import type { Job } from "../jobs/model.ts";
import type { Jobs } from "../jobs/service.ts";
import { type KeepRule, pickExpendable } from "./keep.ts";
import type { Backup } from "./model.ts";

interface BackupsDeps extends Pick<Core, "clock" | "audit"> {
  jobs: Pick<Jobs, "enqueue">;
  /** Folder of backups that people asked for. */
  folder: string;
  /** The current folder of scheduled backups. */
  scheduledFolder(): string;
  /** What is wrong with the folder of scheduled backups; undefined when nothing is. */
  wrongFolder(): string | undefined;
  instanceId: string;
  keepRule(): KeepRule;
  /** Called when a scheduled backup ends, in the transaction that ends its job. */
  onScheduledEnd(job: Pick<EndedJob, "state" | "error">): void;
  /** Writes a backup in another process. @throws Problem with the obstacle and the remedy. */
  write: ReturnType<typeof createBackupWriter>;
}

export type Backups = ReturnType<typeof createBackups>;

const EXTENSION = ".tar.gz";
/** Name of a backup's file. The last part, for scheduled backups, is the tag of the instance. */
const NAME = /^(skep-\d{8}-\d{6}(?:-[0-9a-z]{8})?)\.tar\.gz$/;
/** Name of the temporary folder, beside the file, in which a backup is written; see `writeBackup`. */
const DRAFT = /^\.(skep-\d{8}-\d{6}(?:-[0-9a-z]{8})?)\.tar\.gz-/;
const TAG_CHARACTERS = 8;
const MIB = 1024 ** 2;
/** Ending of the report beside a backup, which lists what the backup leaves out. */
const REPORT = ".left-out.json";

export function createBackups(deps: BackupsDeps) {
  const { clock, audit, jobs, folder, write } = deps;
  const tag = deps.instanceId.slice(-TAG_CHARACTERS);
  const isScheduled = (id: string): boolean => id.endsWith(`-${tag}`);
  /** Both folders, without duplicates: the setting may have changed while there are backups. */
  const listFolders = (): string[] => [...new Set([folder, deps.scheduledFolder()])];
  /** The folder that contains the backup, or into which it will be written. */
  const folderOf = (id: string): string =>
    listFolders().find((path) => existsSync(join(path, id + EXTENSION))) ??
    (isScheduled(id) ? deps.scheduledFolder() : folder);
  const pathOf = (id: string) => join(folderOf(id), id + EXTENSION);
  const reportOf = (id: string) => join(folderOf(id), id + REPORT);
  /** Null when there is no report: the process ended before it wrote one, or somebody else put the file there. */
  const leftOut = (id: string): string[] | null =>
    attempt(() => ownJson<string[]>(readFileSync(reportOf(id), "utf8"))) ?? null;
  const read = (id: string): Backup | undefined => {
    const stat = NAME.test(id + EXTENSION) ? lstatSync(pathOf(id), { throwIfNoEntry: false }) : undefined;
    if (!stat?.isFile()) return undefined;
    const created_at = stat.mtime.toISOString();
    return { id, created_at, bytes: stat.size, scheduled: isScheduled(id), left_out: leftOut(id) };
  };
  const removeFiles = (id: string) => {
    for (const path of [reportOf(id), pathOf(id)]) rmSync(path, { force: true });
  };
  /** @throws Problem 404. */
  const get = (id: string): Backup => expectFound(read(id), "backup");
  /** Empty when somebody removed the folder, or its disk is not mounted. */
  const namesIn = (path: string): string[] => attempt(() => readdirSync(path)) ?? [];
  /** A folder of scheduled backups may be shared: there only backups of this instance count. */
  const isOurs = (path: string, id: string): boolean => path === folder || isScheduled(id);
  const idsIn = (path: string): string[] =>
    namesIn(path)
      .flatMap((name) => NAME.exec(name)?.[1] ?? [])
      .filter((id) => isOurs(path, id));
  /** All backups, newest first. */
  const listAll = (): Backup[] =>
    listFolders()
      .flatMap(idsIn)
      .sort()
      .reverse()
      .flatMap((id) => read(id) ?? []);
  const record = (action: string, id: string, caller: Caller) => audit({ action, ...actedBy(caller), subject: id });
  const removeDrafts = (of?: string) => {
    for (const path of listFolders())
      for (const name of namesIn(path)) {
        const id = DRAFT.exec(name)?.[1];
        if (id === undefined || !isOurs(path, id) || (of !== undefined && id !== of)) continue;
        rmSync(join(path, name), { recursive: true, force: true });
      }
  };
  /**
   * Removes scheduled backups only from the current folder: files in an earlier folder are left to the administrator.
   */
  const removeExpendable = () => {
    const ours = idsIn(deps.scheduledFolder()).filter(isScheduled);
    for (const { id } of pickExpendable(
      ours.map((one) => ({ id: one, at: timeOf(one) })),
      deps.keepRule(),
    ))
      removeFiles(id);
  };

  async function run({ id }: { id: string }, { signal, report }: RunningJob) {
    // Exists if the server stopped after the backup was written completely.
    const before = read(id);
    if (!before && isScheduled(id)) {
      const wrong = deps.wrongFolder();
      if (wrong !== undefined) throw new Problem(422, "no_folder", `${wrong}. It is the setting backup.folder.`);
    }
    let files: number | undefined;
    try {
      if (!before) {
        const written = await write(pathOf(id), {
          signal,
          progress: ({ files, bytes, total }) =>
            report({
              percent: total > 0 ? Math.min(99, Math.floor((100 * bytes) / total)) : undefined,
              detail: `${files.toLocaleString("en")} files, ${Math.floor(bytes / MIB)} of ${Math.ceil(total / MIB)} MiB`,
            }),
        });
        files = written.files;
        writeFileSync(reportOf(id), JSON.stringify(written.left_out), { mode: 0o600 });
      }
      const made = get(id);
      if (isScheduled(id)) removeExpendable();
      return files === undefined ? { ...made } : { ...made, files };
    } finally {
      removeDrafts(id);
    }
  }
  const definition = defineJob("backup", t.Object({ id: t.String() }), run, {
    onEnd({ payload, state, error }) {
      if (isScheduled(payload.id)) deps.onScheduledEnd({ state, error });
    },
  });

  return {
    definition,
    get,
    list: (page: Page): ListAnswer<Backup> => pageOfArray(listAll(), page, ({ id }) => id),
    /** Starts a backup. While one is under way, a second call returns its job. */
    start(caller: Caller): Job {
      const id = idAt(clock.now());
      const job = jobs.enqueue(definition, { id }, { key: "backup", subject: id, userId: caller.userId });
      if (job.subject === id) record("backup.started", id, caller);
      return job;
    },
    /** Starts a scheduled backup that is named after this time, ms since the epoch. */
    startScheduled(now: number): void {
      const id = `${idAt(now)}-${tag}`;
      jobs.enqueue(definition, { id }, { key: "scheduled-backup", subject: id });
    },
    /** Path of the file for a download, which is audited. @throws Problem 404. */
    download(id: string, caller: Caller): string {
      get(id);
      record("backup.downloaded", id, caller);
      return pathOf(id);
    },
    remove(id: string, caller: Caller): void {
      get(id);
      removeFiles(id);
      record("backup.deleted", id, caller);
    },
    /** Removes backups that people asked for before that time (ms since the epoch), except the newest of them. */
    prune(before: number): void {
      const asked = listAll().filter(({ scheduled }) => !scheduled);
      for (const { id, created_at } of asked.slice(1)) if (Date.parse(created_at) < before) removeFiles(id);
    },
    /** Removes the unfinished files of a process that was killed. */
    sweep: () => removeDrafts(),
  };
}

/** A backup's id, such as `skep-20260131-235959`, in UTC. */
function idAt(now: number): string {
  const [date = "", time = ""] = new Date(now).toISOString().split("T");
  return `skep-${date.replaceAll("-", "")}-${time.slice(0, 8).replaceAll(":", "")}`;
}

const timeOf = (id: string): number => {
  const [, date = "", time = ""] = id.split("-");
  const pairs = time.replace(/(..)(..)(..)/, "$1:$2:$3");
  return Date.parse(`${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}T${pairs}Z`);
};
