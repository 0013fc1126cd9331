/**
 * Removes working copies that are no longer needed: the run or session has ended, so has the last execution in the
 * copy, and no preview of it is kept. This is checked after each end of a run, session or preview; a sweep finds what a
 * crash left.
 */

import type { Core } from "../feature.ts";
import { previewChanged } from "../previews/events.ts";
import { RUN_ENDS } from "../runs/events.ts";
import { sessionEnded } from "../sessions/events.ts";
import type { Works } from "./works.ts";
import type { WorkOfProject } from "./workspace-places.ts";
import type { Workspaces } from "./workspaces.ts";

interface WorktreeReleaseDeps extends Pick<Core, "bus" | "log"> {
  works: Pick<Works, "isNeeded" | "ofSession">;
  workspaces: Pick<Workspaces, "release" | "present">;
}

export type WorktreeRelease = ReturnType<typeof createWorktreeRelease>;

export function createWorktreeRelease({ bus, log, works, workspaces }: WorktreeReleaseDeps) {
  /** If a run is restarted meanwhile, it gets its copy again: that is prepared in a later turn of the project. */
  const release = async (work: WorkOfProject): Promise<void> => {
    if (works.isNeeded(work.id)) return;
    await workspaces.release(work).catch((err) => log.warn({ err, work: work.id }, "working copy not removed"));
  };
  const stop = bus.subscribe([...RUN_ENDS, sessionEnded, previewChanged], ({ run_id, session_id, project_id }) => {
    const id = run_id ?? (session_id && works.ofSession(session_id));
    if (id !== undefined && project_id !== undefined) void release({ id, project_id });
  });
  return {
    stop,
    /** Releases every working copy on disk that nothing needs. */
    async sweep(): Promise<void> {
      for (const work of await workspaces.present()) await release(work);
    },
  };
}
