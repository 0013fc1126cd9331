/**
 * A change that a person makes: one request or several, whether they are under way, and what went wrong. Afterwards what
 * the page shows of the changed paths is asked for again.
 */
import { useState, useSyncExternalStore } from "react";
import type { paths } from "../../api/schema.gen.ts";
import { problemOf } from "../api/client.ts";
import { refresh } from "../api/queries.ts";
import type { Action } from "../ui/action.ts";
import { notify } from "../ui/notice.tsx";

type Start<P> = P extends `/v1/${infer One}/${infer Two}/${string}`
  ? `/v1/${One}` | `/v1/${One}/${Two}`
  : P extends `/v1/${infer One}/${string}`
    ? `/v1/${One}`
    : never;
/** A path of the API as its document writes it, or how several begin: `/v1/secrets/{id}`, `/v1/memory`. */
export type ApiPath = keyof paths | Start<keyof paths>;

export interface Change extends Action {
  /**
   * @param work sends the requests. If it returns the answer of a request, a problem in it counts as thrown.
   * @param said told to the person once it is done.
   * @returns whether it was done.
   */
  run(work: () => Promise<unknown>, said?: string): Promise<boolean>;
}

/** @returns what a request or a function answered. @throws the problem in the answer of a request. */
export async function settle(answer: Promise<unknown>): Promise<unknown> {
  const done = await answer;
  const isAnswer = typeof done === "object" && done !== null && "response" in done;
  if (isAnswer && "error" in done && done.error !== undefined) throw done.error;
  return done;
}

interface State {
  busy: boolean;
  error: unknown;
}

/** What a change does beside its requests; tests bring their own. */
interface Effects {
  refresh(...paths: string[]): Promise<void>;
  notify(text: string): void;
}

/** The same without a component: its state is read and followed. */
export function createChange(changes: ApiPath[], effects: Effects = { refresh, notify }) {
  let state: State = { busy: false, error: undefined };
  const readers = new Set<() => void>();
  const set = (next: State) => {
    state = next;
    for (const reader of readers) reader();
  };
  return {
    state: () => state,
    subscribe(reader: () => void) {
      readers.add(reader);
      return () => void readers.delete(reader);
    },
    clear: () => set({ ...state, error: undefined }),
    async run(work: () => Promise<unknown>, said?: string): Promise<boolean> {
      set({ busy: true, error: undefined });
      try {
        await settle(work());
      } catch (error) {
        // Somebody else was first: what they stored is shown beside what was refused.
        if (problemOf(error).status === 412) await effects.refresh(...changes);
        set({ busy: false, error });
        return false;
      }
      // It is done, whatever becomes of the questions that follow: an answer that cannot be had shows its error itself.
      await effects.refresh(...changes).catch(() => {});
      set({ busy: false, error: undefined });
      if (said) effects.notify(said);
      return true;
    },
  };
}

/** @param changes paths whose answers are other ones afterwards. */
export function useChange(...changes: ApiPath[]): Change {
  const [change] = useState(() => createChange(changes));
  const { busy, error } = useSyncExternalStore(change.subscribe, change.state, change.state);
  return { busy, error, run: change.run, clear: change.clear };
}
