/**
 * What may run beside what in one project's clone.
 *
 * - A *turn* moves branches and marks, makes, commits, releases and checks out working copies, or pushes: one after
 *   another, in order of arrival. Merges, steps' commits and the start and end of runs are turns.
 * - A *fetch* writes objects and `refs/remotes/` and nothing else, and may take long: beside turns, one after another.
 * - What is *alone* removes the clone, or packs it: it waits for both, and both wait for it. The clone that is made after
 *   a removal is in no queue: its project says `cloning` meanwhile, and a turn that finds this ends at once.
 * - A *look* (diff, hunks, patch, the code graph) needs no leave: objects are removed from a clone only by what is alone,
 *   once nothing refers to them (`gc.auto` is off), a reference is written after the objects that it names, and git
 *   passes over a working copy that is not whole (adapter/git/worktree.ts). The same makes a fetch's check of all
 *   references safe beside turns.
 *
 * Where a turn and a fetch remove references at once, the one waits for the other's `packed-refs.lock`
 * (adapter/git/command.ts).
 * The row of a project may go while work waits: a turn looks again at what it relies on.
 */
import PQueue from "p-queue";

type Queue = <T>(projectId: string, work: () => Promise<T>) => Promise<T>;

export interface Turns {
  inTurn: Queue;
  /** Not from within a turn. */
  fetching: Queue;
  /** Not from within a turn or a fetch. */
  alone: Queue;
}

/**
 * @param open called for each project before the first work in its clone, and again after it or work in the clone failed: a
 * git may have been killed. Nothing of `inTurn`, `fetching` and `alone` runs in the clone meanwhile.
 */
export function createTurns(open: (projectId: string) => Promise<void>): Turns {
  const inClone = createOpened(open);
  const [turns, fetches] = [createQueues(), createQueues()];
  const once =
    (queue: Queue): Queue =>
    (id, work) =>
      queue(id, () => inClone(id, work));
  const inTurn = once(turns);
  const fetching = once(fetches);
  return {
    inTurn,
    fetching,
    alone: (id, work) => fetching(id, () => inTurn(id, work)),
  };
}

/** Works at the first call; every call gets what that one gets. */
export function onFirstCall<T>(work: () => Promise<T>): () => Promise<T> {
  let begun: Promise<T> | undefined;
  return () => (begun ??= work());
}

/** Runs work in a clone after it was opened. Work that runs at the same time shares one opening. */
function createOpened(open: (projectId: string) => Promise<void>): Queue {
  /** Of each clone that was opened and not closed by a failure. */
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

/** Runs work of one key one after another, in order of arrival. */
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
