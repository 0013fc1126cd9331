/**
 * What agents ask of files that they change: answered from the index that there is, while the files are compared with it.
 * What changed is indexed beside the questions, so that a question about a large tree never waits for a look at all its
 * files. An answer that may lack changes says so.
 */
import { isProblem, messageOf } from "../../core/errors.ts";
import { NOT_COMPARED, OLDER } from "../model.ts";
import type { GraphClient } from "./client.ts";
import type { GraphPlace } from "./session.ts";

interface ChangingPlace extends GraphPlace {
  /** Folder of another graph of the same sources, to start from when there is none yet. */
  seed?: string | undefined;
}

/** How long an answer waits, ms: few files are compared and indexed within it, and nothing is missing then. */
const DEFAULT_PATIENCE = { compareMs: 400, indexMs: 2_000 };

interface Update {
  /** Whether files differ from what is indexed. */
  isOlder: Promise<boolean>;
  done: Promise<unknown>;
}

export interface FreshAnswers {
  /**
   * The text that an agent's tool answers. Waits for the index only where there is none that can be read.
   * @throws GraphError, Problem 503 as the graph does.
   */
  tool(place: ChangingPlace, name: string, args: Readonly<Record<string, unknown>>): Promise<string>;
  /** Brings the index up to date, without a question. Never rejects: the next question says what failed. */
  update(place: ChangingPlace): Promise<void>;
}

export function createFreshAnswers(
  client: Pick<GraphClient, "project">,
  patience: Readonly<typeof DEFAULT_PATIENCE> = DEFAULT_PATIENCE,
): FreshAnswers {
  /** By store: when the update under way is over, and the one behind it, which serves all who ask until it begins. */
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

  /** Waits for an update as long as an answer may. @returns what to say of an answer that is given now; "" where it lacks nothing */
  async function lackOf({ isOlder, done }: Update): Promise<string> {
    try {
      const older = await within(patience.compareMs, isOlder);
      if (older === undefined) return NOT_COMPARED;
      if (!older) return "";
      const isDone = await within(
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
      // The look comes first: an answer that an edit makes worthless is not looked for, and takes no time from that edit.
      const note = await lackOf(startUpdate(place));
      try {
        return withNote(await ask(), note);
      } catch (error) {
        if (!isProblem(error) || error.code !== "not_indexed") throw error;
        // There is none, or it cannot be read, which only an index notices.
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

/** What settles within that time, ms; undefined for what takes longer. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
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
