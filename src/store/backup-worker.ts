/** Writes a backup in a separate process, because copying the database blocks its thread. */
import { dirname } from "node:path";
import { isProblem, messageOf, Problem } from "../core/errors.ts";
import { type BackupReport, bytesToPack, makeFolder, writeBackup } from "./backup.ts";

interface Order {
  data: string;
  file: string;
}
type Message =
  | { kind: "progress"; files: number; bytes: number; total: number }
  | { kind: "done"; report: BackupReport }
  | { kind: "refused"; status: number; code: string; detail: string }
  | { kind: "broken"; trace: string };

export interface BackupWriterOptions {
  signal: AbortSignal;
  progress(report: { files: number; bytes: number; total: number }): void;
}

/** Runs until its one backup is written, or its parent process is gone. */
export function runBackupWorker(): void {
  if (!process.send) throw new Error("backup-worker is started by the server, over IPC");
  process.umask(0o077);
  const send = (message: Message) => void process.send?.(message);
  process.on("disconnect", () => process.exit(0));
  process.on("message", async ({ data, file }: Order) => {
    try {
      makeFolder(dirname(file));
      const total = await bytesToPack(data, { withoutKeys: true });
      let shown = 0;
      const report = await writeBackup(data, file, {
        withoutKeys: true,
        progress({ files, bytes }) {
          if (Date.now() - shown < 200) return;
          shown = Date.now();
          send({ kind: "progress", files, bytes, total });
        },
      });
      send({ kind: "done", report });
    } catch (error) {
      if (isProblem(error)) send({ kind: "refused", status: error.status, code: error.code, detail: error.detail });
      else send({ kind: "broken", trace: (error instanceof Error && error.stack) || messageOf(error) });
    }
  });
}

/**
 * @param command line of a backup worker.
 * @returns a function that writes a backup without keys. @throws Problem as `writeBackup`, 500 `backup_killed`; rejects
 *   when it is aborted.
 */
export const createBackupWriter =
  (command: readonly string[], data: string) =>
  (file: string, { signal, progress }: BackupWriterOptions): Promise<BackupReport> =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const child = Bun.spawn([...command], {
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore",
        env: {},
        ipc(message: Message) {
          if (message.kind === "progress") return progress(message);
          if (message.kind === "done") resolve(message.report);
          else if (message.kind === "refused") reject(new Problem(message.status, message.code, message.detail));
          else reject(new Error(`the backup's process failed: ${message.trace}`));
          child.kill("SIGKILL");
        },
        onExit(_, code, killedBy) {
          signal.removeEventListener("abort", stop);
          // Has no effect when the worker has already answered.
          if (signal.aborted) reject(signal.reason);
          else reject(new Problem(500, "backup_killed", killedText(killedBy ?? `exit code ${code}`)));
        },
      });
      const stop = () => child.kill("SIGKILL");
      signal.addEventListener("abort", stop, { once: true });
      child.send({ data, file } satisfies Order);
    });

const killedText = (how: string | number): string =>
  `The process that wrote the backup ended (${how}), as when memory runs out. Nothing of it was kept: make it again.`;
