/** Writing a backup in a process of its own: copying the database blocks its thread while it runs. */
import { isProblem, messageOf, Problem } from "../core/errors.ts";
import { type BackupReport, bytesToPack, writeBackup } from "./backup.ts";

interface Order {
  data: string;
  file: string;
}
type Message =
  | { kind: "progress"; files: number; bytes: number; total: number }
  | { kind: "done"; report: BackupReport }
  | { kind: "failed"; code: string; detail: string };

export interface BackupWriterOptions {
  signal: AbortSignal;
  progress(report: { files: number; bytes: number; total: number }): void;
}

/** Runs until its one backup is written, or its parent is gone. */
export function runBackupWorker(): void {
  if (!process.send) throw new Error("backup-worker is started by the server, over IPC");
  process.umask(0o077);
  const send = (message: Message) => void process.send?.(message);
  process.on("disconnect", () => process.exit(0));
  process.on("message", async ({ data, file }: Order) => {
    try {
      const total = bytesToPack(data, { withoutKeys: true });
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
      const code = isProblem(error) ? error.code : "not_written";
      send({ kind: "failed", code, detail: messageOf(error) });
    }
  });
}

/**
 * @param command line of a backup worker.
 * @returns what writes a backup without keys. @throws Problem 422 with what is in the way; rejects once it is aborted.
 */
export const createBackupWriter =
  (command: readonly string[], data: string) =>
  (file: string, { signal, progress }: BackupWriterOptions): Promise<BackupReport> =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const child = Bun.spawn([...command], {
        ...{ stdin: "ignore", stdout: "ignore", stderr: "ignore", env: {} },
        ipc(message: Message) {
          if (message.kind === "progress") return progress(message);
          if (message.kind === "done") resolve(message.report);
          else reject(new Problem(422, message.code, message.detail));
          child.kill("SIGKILL");
        },
        onExit(_, code, killedBy) {
          signal.removeEventListener("abort", stop);
          // Has no effect once it has answered.
          if (signal.aborted) reject(signal.reason);
          else reject(new Error(`the backup's process ended (${killedBy ?? code})`));
        },
      });
      const stop = () => child.kill("SIGKILL");
      signal.addEventListener("abort", stop, { once: true });
      child.send({ data, file } satisfies Order);
    });
