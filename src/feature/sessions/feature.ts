import { HOUR_MS } from "../../core/clock.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { StorageService } from "../storage/service.ts";
import type { UsageLog } from "../usage/service.ts";
import { sessionEvents } from "./events.ts";
import { createSessionFiles } from "./files.ts";
import { createSessions } from "./service.ts";

const SWEEP_MS = HOUR_MS;

type Needs = Core & { usage: Pick<UsageLog, "recordCall">; storage: Pick<StorageService, "assertWorkspaces"> };

export const sessions = defineFeature(
  "sessions",
  ({ store, clock, usage, storage, folder, log }: Needs) => {
    const { assertWorkspaces } = storage;
    const sessions = createSessions({ store, clock, recordCall: usage.recordCall, assertWorkspaces });
    const files = createSessionFiles(store, folder.workspaces);
    const openChats = store.sqlite
      .prepare<[string], string>("SELECT id FROM sessions WHERE user_id = ? AND kind = 'chat' AND ended_at IS NULL")
      .pluck();
    return {
      service: { ...sessions, files },
      counts: () => ({ active_sessions: sessions.liveExecutions().length }),
      duties: [{ name: "session-files", everyMs: SWEEP_MS, run: files.sweep }],
      /**
       * Messages of a deleted user stay for administrators, as the user's runs do. Their chats end, and the chats'
       * files are removed.
       */
      handOver(from) {
        for (const id of openChats.all(from)) sessions.end(id);
        store.write(({ after }) =>
          after(
            () => void files.sweep().catch((err) => log.warn({ err }, "files of a deleted user are removed later")),
          ),
        );
      },
    };
  },
  sessionEvents,
);
