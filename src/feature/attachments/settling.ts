/** Lets a turn that needs an attachment's text wait until text extraction has finished. */

/** Longer than extracting one file may take, with some files before it in the queue. */
const PATIENCE_MS = 180_000;

export function createSettling() {
  const waiting = new Map<string, Set<() => void>>();
  return {
    wake(id: string): void {
      const all = waiting.get(id);
      waiting.delete(id);
      for (const go of all ?? []) go();
    },
    /** Resolves when the attachment is settled, or after PATIENCE_MS. The caller then checks its state again. */
    wait(id: string): Promise<void> {
      return new Promise((resolve) => {
        const all = waiting.get(id) ?? new Set();
        waiting.set(id, all);
        const go = () => {
          clearTimeout(timer);
          all.delete(go);
          if (all.size === 0 && waiting.get(id) === all) waiting.delete(id);
          resolve();
        };
        const timer = setTimeout(go, PATIENCE_MS);
        all.add(go);
      });
    },
  };
}
