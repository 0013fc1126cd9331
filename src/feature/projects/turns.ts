/**
 * What may run at the same time in one project's clone.
 *
 * - A *turn* moves branches and marks; makes, commits, releases and checks out working copies; or pushes. Turns run one
 *   after another, in order of arrival. Merges, steps' commits and the start and end of runs are turns.
 * - A *fetch* writes only objects and `refs/remotes/`, and may take long. Fetches run one after another, beside turns.
 * - Work that runs *alone* removes or packs the clone. It waits for turns and fetches, and they wait for it. The
 *   cloning that may follow a removal is in no queue: the project's row says `cloning` meanwhile, and a turn that finds
 *   this ends at once.
 * - A *look* (diff, hunks, patch, the code graph) needs no queue, for three reasons. Only work that runs alone removes
 *   objects, and only those that nothing refers to (`gc.auto` is off). A reference is written after the objects that it
 *   names. Git skips an incomplete working copy (adapter/git/worktree.ts). For the same reasons, a fetch may check all
 *   references beside turns.
 *
 * When a turn and a fetch remove references at the same time, one waits for the other's `packed-refs.lock`
 * (adapter/git/command.ts). A project's row may be deleted while work waits, so a turn checks again what it relies on.
 */
import PQueue from "p-queue";

type Queue = <T>(projectId: string, work: () => Promise<T>) => Promise<T>;

export interface Turns {
  inTurn: Queue;
  /** Runs a fetch. Must not be called within a turn. */
  fetching: Queue;
  /** Runs work alone. Must not be called within a turn or a fetch. */
  alone: Queue;
}

/**
 * @param open called before the first work in each project's clone, and again after it or other work in the clone
 * failed, because a git may have been killed. No `inTurn`, `fetching` or `alone` work runs in that clone meanwhile.
 */
export function createTurns(open: (projectId: string) => Promise<void>): Turns {
  const inClone = createOpened(open);
  const [turns, fetches] = [createQueues(), createQueues()];
  const wrap =
    (queue: Queue): Queue =>
    (id, work) =>
      queue(id, () => inClone(id, work));
  const inTurn = wrap(turns);
  const fetching = wrap(fetches);
  return {
    inTurn,
    fetching,
    alone: (id, work) => fetching(id, () => inTurn(id, work)),
  };
}

/** Runs the work at the first call. Every call gets that result. */
export function onFirstCall<T>(work: () => Promise<T>): () => Promise<T> {
  let begun: Promise<T> | undefined;
  return () => (begun ??= work());
}

/** Runs work in a clone after it was opened. Work that runs at the same time shares one opening. */
function createOpened(open: (projectId: string) => Promise<void>): Queue {
  /** The state of each clone that was opened and not closed by a failure. */
  const clones = new Map<string, { opening: Promise<void>; running: number; hasFailed: boolean }>();
  return async (id, work) => {
    const clone = clones.get(id) ?? { opening: open(id), running: 0, hasFailed: false };
    clones.set(id, clone);
    clone.running++;
    try {
      await clone.opening;
      return await work();
    } catch (error) {
      clone.hasFailed = true;
      throw error;
    } finally {
      clone.running--;
      if (clone.hasFailed && clone.running === 0) clones.delete(id);
    }
  };
}

/** Runs work with the same key one after another, in order of arrival. */
function createQueues(): Queue {
  const queues = new Map<string, PQueue>();
  return (key, work) => {
    let queue = queues.get(key);
    if (!queue) {
      queue = new PQueue({ concurrency: 1 });
      queue.once("idle", () => queues.delete(key));
      queues.set(key, queue);
    }
    return queue.add(work);
  };
}
