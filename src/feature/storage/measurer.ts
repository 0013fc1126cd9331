/** Keeps the sizes of workspaces up to date. It measures them after work in them, and periodically. */
import { toTimestamp } from "../../core/clock.ts";
import { isId } from "../../core/ids.ts";
import { takeTurns } from "../../core/turns.ts";
import { openFolder } from "../../working-copy/folder.ts";
import type { Core } from "../feature.ts";

interface MeasurerDeps extends Pick<Core, "store" | "clock" | "log"> {
  /** Path of the folder that holds the workspaces of runs and chats. */
  folder: string;
  measure(
    names: readonly string[],
    onFound: (name: string, size: { files: number; bytes: number } | null) => void,
    signal?: AbortSignal,
  ): Promise<void>;
}

const OWNER = `SELECT created_by AS user_id FROM runs WHERE id = @name
  UNION ALL SELECT user_id FROM sessions WHERE id = @name LIMIT 1`;
/** Time of the last work in the workspace; null while work goes on. */
const WORKED = `SELECT iif(finished_at IS NULL, NULL, finished_at) AS at FROM runs WHERE id = @name
  UNION ALL SELECT last_activity_at FROM sessions WHERE id = @name LIMIT 1`;

/** Time from the end of work until it is measured, ms. Work that ends within it is measured together. */
const SOON_MS = 1_000;
const isWorkspace = (name: string): boolean => isId("run", name) || isId("session", name);

export function createMeasurer({ store, clock, log, folder, measure }: MeasurerDeps) {
  const { statement } = store;
  const ownerOf = (name: string) => statement<{ user_id: string | null }>(OWNER).get({ name })?.user_id ?? null;
  const note = (name: string, size: { files: number; bytes: number } | null): void =>
    store.write(() => {
      if (size === null) return void statement("DELETE FROM workspace_sizes WHERE name = ?").run(name);
      statement(
        `INSERT OR REPLACE INTO workspace_sizes (name, user_id, files, bytes, measured_at)
         VALUES (@name, @user_id, @files, @bytes, @at)`,
      ).run({ name, user_id: ownerOf(name), ...size, at: toTimestamp(clock.now()) });
    });
  const isStale = (name: string): boolean => {
    const known = statement<string>("SELECT measured_at FROM workspace_sizes WHERE name = ?").pluck().get([name]);
    const worked = statement<{ at: string | null }>(WORKED).get({ name });
    return known === undefined || !worked || worked.at === null || worked.at >= known;
  };
  /** All folders of runs and chats. */
  const listFolders = (): string[] => {
    using all = openFolder(folder, "latin1");
    return all.list().flatMap(({ name, kind }) => (kind === "folder" && isWorkspace(name) ? [name] : []));
  };
  async function findStale(): Promise<string[]> {
    const there = new Set(listFolders());
    const known = statement<string>("SELECT name FROM workspace_sizes").pluck().all();
    const turn = takeTurns();
    const found: string[] = [];
    for (const name of new Set([...there, ...known])) {
      await turn();
      if (!there.has(name) || isStale(name)) found.push(name);
    }
    return found;
  }
  const end = new AbortController();
  const waiting = new Set<string>();
  let timer: Timer | undefined;
  let looking: Promise<void> = Promise.resolve();
  /** Measures workspaces, with one process at a time. */
  const measureAll = (names: readonly string[]): Promise<void> => {
    if (names.length === 0) return looking;
    looking = looking.then(async () => {
      if (end.signal.aborted) return;
      try {
        await measure(names, note, end.signal);
      } catch (err) {
        if (!end.signal.aborted) log.warn({ err }, "workspaces are measured again later");
      }
    });
    return looking;
  };
  return {
    /** Marks a workspace in which somebody worked, so that it is measured soon. */
    markChanged(name: string): void {
      if (end.signal.aborted) return;
      waiting.add(name);
      timer ??= setTimeout(() => {
        timer = undefined;
        const names = [...waiting];
        waiting.clear();
        void measureAll(names);
      }, SOON_MS);
    },
    /** Measures all workspaces with work since they were last measured, and forgets those that are gone. */
    sweep: async (): Promise<void> => measureAll(await findStale()),
    async stop(): Promise<void> {
      clearTimeout(timer);
      end.abort();
      await looking;
    },
  };
}
