/**
 * Answers to agents that are changing files. They come from the existing index, while the files are compared with it
 * and changes are indexed in the background. So a question about a large tree never waits until all its files have been
 * looked at. An answer that may lack changes says so.
 */
import { isProblem, messageOf } from "../../core/errors.ts";
import { NOT_COMPARED, OLDER } from "../model.ts";
import type { GraphClient } from "./client.ts";
import type { GraphPlace } from "./session.ts";

interface ChangingPlace extends GraphPlace {
  /** Folder of another graph of the same sources. The index starts from it if there is no graph yet. */
  seed?: string | undefined;
}

/** How long an answer waits for the comparison and for the index, ms. If both end in time, the answer lacks nothing. */
const DEFAULT_PATIENCE = { compareMs: 400, indexMs: 2_000 };

interface Update {
  /** Whether files differ from the index. */
  isOlder: Promise<boolean>;
  done: Promise<unknown>;
}

export interface FreshAnswers {
  /**
   * The text with which an agent's tool answers. Waits for an index only if there is none that can be read.
   * @throws GraphError and Problem 503, as the graph does
   */
  tool(place: ChangingPlace, name: string, args: Readonly<Record<string, unknown>>): Promise<string>;
  /** Brings the index up to date without a question. Never rejects: the next question reports a failure. */
  update(place: ChangingPlace): Promise<void>;
}

export function createFreshAnswers(
  client: Pick<GraphClient, "project">,
  patience: Readonly<typeof DEFAULT_PATIENCE> = DEFAULT_PATIENCE,
): FreshAnswers {
  /**
   * By store: `running` settles when the latest update is over; `waiting` is the update that has not begun. All who ask
   * share it.
   */
  const running = new Map<string, Promise<unknown>>();
  const waiting = new Map<string, Update>();

  function startUpdate(place: ChangingPlace): Update {
    const { store, seed } = place;
    const next = waiting.get(store);
    if (next) return next;
    const graph = client.project(place);
    const begun = Promise.resolve(running.get(store)).then(() => void waiting.delete(store));
    const isOlder = begun.then(async () => {
      const { state, dirty } = await graph.status();
      return dirty || state === "not_indexed";
    });
    const done = isOlder.then((older) => (older ? graph.index({ force: false, seed, looked: true }) : undefined));
    const over: Promise<unknown> = done
      .catch(() => undefined)
      .then(() => running.get(store) === over && running.delete(store));
    running.set(store, over);
    const update = { isOlder, done };
    waiting.set(store, update);
    return update;
  }

  /**
   * Waits for an update as long as an answer may. @returns a note on what an answer given now may lack; "" if it lacks
   * nothing
   */
  async function lackOf({ isOlder, done }: Update): Promise<string> {
    try {
      const older = await waitAtMost(patience.compareMs, isOlder);
      if (older === undefined) return NOT_COMPARED;
      if (!older) return "";
      const isDone = await waitAtMost(
        patience.indexMs,
        done.then(() => true),
      );
      return isDone ? "" : OLDER;
    } catch (error) {
      return `Note: the index could not be brought up to date: ${messageOf(error).slice(0, 90)}`;
    }
  }

  return {
    async tool(place, name, args) {
      const graph = client.project(place);
      const ask = () => graph.tool(name, args);
      // The files are compared first. Otherwise time would go to an answer that the edit makes worthless.
      const note = await lackOf(startUpdate(place));
      try {
        return withNote(await ask(), note);
      } catch (error) {
        if (!isProblem(error) || error.code !== "not_indexed") throw error;
        // There is no index, or it cannot be read, which only an index job finds out.
        await graph.index({ force: false, seed: place.seed });
        return ask();
      }
    },
    update: (place) =>
      startUpdate(place).done.then(
        () => undefined,
        () => undefined,
      ),
  };
}

const withNote = (text: string, note: string): string => (note === "" ? text : `${text}\n\n${note}`);

/** Waits for a result up to this long, ms. @returns undefined if the time is over */
async function waitAtMost<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise<undefined>((done) => {
    timer = setTimeout(done, ms, undefined);
  });
  try {
    return await Promise.race([work, patience]);
  } finally {
    clearTimeout(timer);
  }
}
