import { expect, test } from "bun:test";
import { createTurns } from "./turns.ts";

/** Work that reports its beginning and ends when the test lets it. */
function createHeldWork() {
  const began = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const work = async () => {
    began.resolve();
    await end.promise;
  };
  return { work, began: began.promise, end: end.resolve };
}

test("a fetch goes beside turns, which go one after another; another project waits for neither", async () => {
  const { inTurn, fetching } = createTurns(async () => {});
  const [fetch, turn] = [createHeldWork(), createHeldWork()];
  const order: string[] = [];
  const fetched = fetching("a", fetch.work).then(() => order.push("fetch"));
  await fetch.began;
  const first = inTurn("a", turn.work).then(() => order.push("first"));
  await turn.began;
  const second = inTurn("a", async () => void order.push("second"));
  const otherFetch = fetching("a", async () => void order.push("other fetch"));
  await inTurn("b", async () => void order.push("other project"));
  turn.end();
  await Promise.all([first, second]);
  fetch.end();
  await Promise.all([fetched, otherFetch]);
  expect(order).toEqual(["other project", "first", "second", "fetch", "other fetch"]);
});

test("what is alone waits for the fetch and the turn under way, and those that come later wait for it", async () => {
  const { inTurn, fetching, alone } = createTurns(async () => {});
  const [fetch, turn, whole] = [createHeldWork(), createHeldWork(), createHeldWork()];
  const order: string[] = [];
  const before = [fetching("a", fetch.work), inTurn("a", turn.work)];
  await Promise.all([fetch.began, turn.began]);
  const removed = alone("a", async () => {
    order.push("alone");
    await whole.work();
    order.push("removed");
  });
  fetch.end();
  await before[0];
  expect(order).toEqual([]);
  turn.end();
  await Promise.all([...before, whole.began]);
  const after = [inTurn("a", async () => void order.push("turn")), fetching("a", async () => void order.push("fetch"))];
  whole.end();
  await Promise.all([removed, ...after]);
  expect(order.slice(0, 2)).toEqual(["alone", "removed"]);
  expect(order.slice(2).sort()).toEqual(["fetch", "turn"]);
});

test("after work failed the clone is opened again, when nothing runs in it any more", async () => {
  const opened: string[] = [];
  const { inTurn, fetching } = createTurns(async (id) => void opened.push(id));
  const fetch = createHeldWork();
  const fetched = fetching("a", fetch.work);
  await fetch.began;
  const rejectKilled = () => Promise.reject(new Error("git took too long"));
  await expect(inTurn("a", rejectKilled)).rejects.toThrow("too long");
  // The fetch is still writing, so its locks and packs are not leftovers.
  await inTurn("a", async () => {});
  expect(opened).toEqual(["a"]);
  fetch.end();
  await fetched;
  await inTurn("a", async () => {});
  await inTurn("a", async () => {});
  expect(opened).toEqual(["a", "a"]);
});

test("a project's clone is opened before the first work in it, once; when that failed, again", async () => {
  const opened: string[] = [];
  const { inTurn, fetching } = createTurns(async (id) => {
    opened.push(id);
    if (opened.length === 1) throw new Error("not now");
  });
  const work = async () => opened.length;
  expect(await inTurn("a", work).catch((error) => error.message)).toBe("not now");
  expect(await Promise.all([inTurn("a", work), fetching("a", work), inTurn("a", work)])).toEqual([2, 2, 2]);
  await inTurn("b", work);
  expect(opened).toEqual(["a", "a", "b"]);
});
