/** An action that a person starts: whether it is under way, and what went wrong. */
import { useState } from "react";

export interface Action {
  busy: boolean;
  error: unknown;
  /** Runs the action. @returns whether it succeeded. */
  run(work: () => Promise<unknown>): Promise<boolean>;
  clear(): void;
}

export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  return {
    busy,
    error,
    clear: () => setError(undefined),
    async run(work) {
      setBusy(true);
      setError(undefined);
      try {
        await work();
        return true;
      } catch (thrown) {
        setError(thrown);
        return false;
      } finally {
        setBusy(false);
      }
    },
  };
}
