/**
 * Backups made by the server. They exist only as files, so that a restored database names none that are gone.
 * None holds the keys: the right to download one over the network is not the right to read every secret.
 */
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type as t } from "@sinclair/typebox";
import type { Clock } from "../../core/clock.ts";
import { notFound } from "../../core/errors.ts";
import { defineJob, type JobDefinition } from "../../core/jobs.ts";
import { ownJson } from "../../core/own-json.ts";
import { actorOf, type Caller } from "../../http/caller.ts";
import { type ListAnswer, type Page, pageOfArray } from "../../http/list.ts";
import type { Audit } from "../../store/audit.ts";
import type { BackupReport } from "../../store/backup.ts";
import type { Job } from "../jobs/model.ts";
import type { Jobs } from "../jobs/service.ts";
import type { Backup } from "./model.ts";

export interface BackupsDeps {
  clock: Clock;
  audit: Audit;
  jobs: Pick<Jobs, "enqueue">;
  /** Folder of the backups. */
  folder: string;
  /** Writes one in another process. @throws Problem with what is in the way and the remedy. */
  write(file: string, options: WriteOptions): Promise<BackupReport>;
}

export interface WriteOptions {
  signal: AbortSignal;
  progress(report: BackupProgress): void;
}

export interface BackupProgress {
  files: number;
  bytes: number;
  /** Bytes to pack, in total. */
  total: number;
}

export interface Backups {
  readonly definition: JobDefinition;
  list(page: Page): ListAnswer<Backup>;
  /** @throws Problem 404. */
  get(id: string): Backup;
  /** One at a time: a second call returns the one under way. */
  start(caller: Caller): Job;
  /** The file, for a download, which is audited. @throws Problem 404. */
  download(id: string, caller: Caller): string;
  remove(id: string, caller: Caller): void;
  /** Removes those older than that time (ms since the epoch), except the newest. */
  prune(before: number): void;
  /** Removes what a killed process left half written. */
  sweep(): void;
}

const EXTENSION = ".tar.gz";
const NAME = /^(skep-\d{8}-\d{6})\.tar\.gz$/;
/** The folder beside the file in which it is written; see `writeBackup`. */
const DRAFT = /^\.skep-\d{8}-\d{6}\.tar\.gz-/;
const MIB = 1024 ** 2;
/** Of the file beside it that says what was left out of it. */
const REPORT = ".left-out.json";

export function createBackups({ clock, audit, jobs, folder, write }: BackupsDeps): Backups {
  const pathOf = (id: string) => join(folder, id + EXTENSION);
  const reportOf = (id: string) => join(folder, id + REPORT);
  /** Null where there is no report: the process ended before it was written, or somebody put the file there. */
  const leftOut = (id: string): string[] | null => {
    try {
      return ownJson<string[]>(readFileSync(reportOf(id), "utf8"));
    } catch {
      return null;
    }
  };
  const read = (id: string): Backup | undefined => {
    const stat = NAME.test(id + EXTENSION) ? lstatSync(pathOf(id), { throwIfNoEntry: false }) : undefined;
    if (!stat?.isFile()) return undefined;
    return { id, created_at: stat.mtime.toISOString(), bytes: stat.size, left_out: leftOut(id) };
  };
  const removeFiles = (id: string) => {
    for (const path of [pathOf(id), reportOf(id)]) rmSync(path, { force: true });
  };
  const get = (id: string): Backup => {
    const found = read(id);
    if (!found) throw notFound("backup");
    return found;
  };
  /** None when somebody removed the folder; the next backup makes it again. */
  const names = (): string[] => (existsSync(folder) ? readdirSync(folder) : []);
  /** The newest first. */
  const all = (): Backup[] =>
    names()
      .flatMap((name) => NAME.exec(name)?.[1] ?? [])
      .sort()
      .reverse()
      .flatMap((id) => read(id) ?? []);
  const record = (action: string, id: string, caller: Caller) =>
    audit({ action, actor: actorOf(caller), subject: id, address: caller.address });
  const removeDrafts = (of?: string) => {
    for (const name of names())
      if (DRAFT.test(name) && (of === undefined || name.startsWith(`.${of}${EXTENSION}-`)))
        rmSync(join(folder, name), { recursive: true, force: true });
  };

  const definition = defineJob("backup", t.Object({ id: t.String() }), async ({ id }, { signal, report }) => {
    const done = read(id);
    // It was written whole before the server stopped.
    if (done) return { ...done };
    try {
      const { files, left_out } = await write(pathOf(id), {
        signal,
        progress: ({ files, bytes, total }) =>
          report({
            percent: total > 0 ? Math.min(99, Math.floor((100 * bytes) / total)) : undefined,
            detail: `${files.toLocaleString("en")} files, ${Math.floor(bytes / MIB)} of ${Math.ceil(total / MIB)} MiB`,
          }),
      });
      writeFileSync(reportOf(id), JSON.stringify(left_out), { mode: 0o600 });
      return { ...get(id), files };
    } finally {
      removeDrafts(id);
    }
  });

  return {
    definition,
    get,
    list: (page) => pageOfArray(all(), page, ({ id }) => id),
    start(caller) {
      const id = idAt(clock.now());
      const job = jobs.enqueue(definition, { id }, { key: "backup", subject: id, userId: caller.userId });
      if (job.subject === id) record("backup.started", id, caller);
      return job;
    },
    download(id, caller) {
      get(id);
      record("backup.downloaded", id, caller);
      return pathOf(id);
    },
    remove(id, caller) {
      get(id);
      removeFiles(id);
      record("backup.deleted", id, caller);
    },
    prune(before) {
      for (const { id, created_at } of all().slice(1)) if (Date.parse(created_at) < before) removeFiles(id);
    },
    sweep: () => removeDrafts(),
  };
}

/** `skep-20260131-235959`, UTC. */
function idAt(now: number): string {
  const [date = "", time = ""] = new Date(now).toISOString().split("T");
  return `skep-${date.replaceAll("-", "")}-${time.slice(0, 8).replaceAll(":", "")}`;
}
