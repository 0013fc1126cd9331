/** Something a person sets off: whether it is under way, and what went wrong. */
import { useState } from "react";

export interface Action {
  busy: boolean;
  error: unknown;
  /** Carries it out. @returns whether it was done. */
  run(deed: () => Promise<unknown>): Promise<boolean>;
  clear(): void;
}

export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  return {
    busy,
    error,
    clear: () => setError(undefined),
    async run(deed) {
      setBusy(true);
      setError(undefined);
      try {
        await deed();
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
