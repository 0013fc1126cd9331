/**
 * A change that a person makes: its requests, whether they are under way, and what went wrong. After the change, the
 * page's data on the changed paths is fetched again.
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
/**
 * A path of the API as in the OpenAPI document, or a beginning that several share: `/v1/secrets/{id}`, `/v1/memory`.
 */
export type ApiPath = keyof paths | Start<keyof paths>;

export interface Change extends Action {
  /**
   * @param work sends the requests. If it returns the answer of a request, a problem in that answer counts as thrown.
   * @param said shown to the person after success.
   * @returns whether the change succeeded.
   */
  run(work: () => Promise<unknown>, said?: string): Promise<boolean>;
}

/** @returns what a request or function returned. @throws the problem in a request's answer. */
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

/** What a change does besides its requests. Tests pass their own. */
interface Effects {
  refresh(...paths: string[]): Promise<void>;
  notify(text: string): void;
}

/** Like `useChange`, outside of a component: the state is read with `state` and followed with `subscribe`. */
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
        // Somebody else saved first: fetch their version, so that it can be shown beside the refused one.
        if (problemOf(error).status === 412) await effects.refresh(...changes);
        set({ busy: false, error });
        return false;
      }
      // The change has succeeded even if these reads fail: each query shows its own error.
      await effects.refresh(...changes).catch(() => {});
      set({ busy: false, error: undefined });
      if (said) effects.notify(said);
      return true;
    },
  };
}

/** @param changes paths whose answers are different after the change. */
export function useChange(...changes: ApiPath[]): Change {
  const [change] = useState(() => createChange(changes));
  const { busy, error } = useSyncExternalStore(change.subscribe, change.state, change.state);
  return { busy, error, run: change.run, clear: change.clear };
}
