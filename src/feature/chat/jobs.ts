/** Background jobs for chats: copying the files of a fork, the summary, and the title. */
import { Type as t } from "@sinclair/typebox";
import { defineJob } from "../../core/jobs.ts";
import type { Store } from "../../store/store.ts";
import type { Copied } from "../../working-copy/copy.ts";
import type { Workspaces } from "../projects/workspaces.ts";
import type { SessionFiles } from "../sessions/files.ts";
import { COPY_JOB } from "../sessions/model.ts";
import type { Sessions } from "../sessions/service.ts";

const TITLE_ATTEMPTS = 3;
const MIB = 1024 ** 2;

interface ChatJobsDeps {
  store: Store;
  sessions: Sessions & { files: Pick<SessionFiles, "copy" | "copyBeside"> };
  projects: { workspaces: Pick<Workspaces, "fork" | "prepare"> };
}

export function chatJobs({ store, sessions, projects }: ChatJobsDeps) {
  return {
    /**
     * Copies the files of a fork; if it is canceled, the fork has no files. Replies in the fork wait until it has
     * ended.
     */
    copyFiles: defineJob(
      COPY_JOB,
      t.Object({ from: t.String(), to: t.String() }),
      async ({ from, to }, { signal, report }) => {
        const onCopied = ({ files, bytes }: Copied) =>
          report({ detail: `${files.toLocaleString("en")} files, ${Math.floor(bytes / MIB)} MiB` });
        const [source, made] = [sessions.find(from), sessions.find(to)];
        if (made && made.branch !== null) {
          const work = { id: to, project_id: made.project_id, user_id: made.user_id ?? undefined };
          const hasBranch = source !== undefined && source.branch !== null;
          // A source from an earlier version has its own folder, which is copied beside the project's files.
          if (!hasBranch) await projects.workspaces.prepare(work, signal);
          // If the source has no files yet, the fork starts from the project's files like every chat.
          else if (!(await projects.workspaces.fork({ ...work, id: from }, work, signal)))
            return { files: 0, bytes: 0, left_out: 0 };
        }
        const copied =
          made && made.branch !== null
            ? await sessions.files.copyBeside(from, to, { signal, onCopied })
            : await sessions.files.copy(from, to, { signal, onCopied });
        return copied && { files: copied.files, bytes: copied.bytes, left_out: copied.leftOut };
      },
      { parallel: 2 },
    ),
    /** If the job starts again after a crash, it finds the summary and does nothing. */
    compact: defineJob(
      "compact_chat",
      t.Object({ session_id: t.String() }),
      async ({ session_id }, { signal }) => {
        await sessions.compact(session_id, signal);
        return { session_id };
      },
      { parallel: 4, outward: true, exclusive: ({ session_id }) => session_id },
    ),
    /** Replaces the first title by one that a model writes. A title that somebody has changed meanwhile stays. */
    title: defineJob(
      "title_chat",
      t.Object({ session_id: t.String(), instead_of: t.String() }),
      async ({ session_id, instead_of }, { signal }) => {
        if (sessions.find(session_id)?.title !== instead_of) return { title: null };
        const title = await sessions.titleFor(session_id, signal);
        store.write(() => {
          if (title !== undefined && sessions.find(session_id)?.title === instead_of)
            sessions.change(session_id, { title });
        });
        return { title: title ?? null };
      },
      { parallel: 4, outward: true, attempts: TITLE_ATTEMPTS },
    ),
  };
}

export type ChatJobs = ReturnType<typeof chatJobs>;
