/** Keeps sandboxes running for a limited time, with a limit per user and in all. */
interface Parked {
  /** The user it works for. */
  userId: string | undefined;
}

/** @param end stops a sandbox whose time is over or that makes room for another. */
export function createParked<One extends Parked>(
  most: { perUser: number; all: number },
  end: (one: One) => Promise<void>,
) {
  /** Ordered by waiting time, longest first. */
  const parked = new Map<string, { one: One; timer: ReturnType<typeof setTimeout> }>();
  const listEntries = (): [id: string, one: One][] => [...parked].map(([id, { one }]) => [id, one]);

  function take(id: string): One | undefined {
    const found = parked.get(id);
    if (!found) return undefined;
    clearTimeout(found.timer);
    parked.delete(id);
    return found.one;
  }
  async function stop(id: string): Promise<void> {
    const found = take(id);
    if (found) await end(found);
  }
  return {
    listEntries,
    get: (id: string): One | undefined => parked.get(id)?.one,
    take,
    stop,
    /** Parks a sandbox. When there is no room, the oldest one is ended: the user's own if the user is at the limit. */
    put(id: string, one: One, ms: number): void {
      const all = listEntries();
      const ofUser = all.filter(([, { userId }]) => userId === one.userId);
      const [oldest] = ofUser.length >= most.perUser ? ofUser : all.length >= most.all ? all : [];
      if (oldest) void stop(oldest[0]);
      const timer = setTimeout(() => void stop(id), ms);
      timer.unref();
      parked.set(id, { one, timer });
    },
    stopAll: async (): Promise<void> => void (await Promise.all([...parked.keys()].map(stop))),
  };
}
