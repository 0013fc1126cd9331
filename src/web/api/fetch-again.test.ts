/** Requests that were sent before a change and answered after it. */
import { expect, test } from "bun:test";
import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { fetchAgain } from "./fetch-again.ts";

test("a first answer that is older than what changed is asked for again", async () => {
  const queries = new QueryClient();
  const first = Promise.withResolvers<string>();
  let asked = 0;
  const queryKey = ["get", "/v1/runs", {}];
  const queryFn = () => (++asked === 1 ? first.promise : Promise.resolve("succeeded"));
  const observer = new QueryObserver(queries, { queryKey, queryFn });
  const leave = observer.subscribe(() => {});
  const fetched = Promise.all([fetchAgain(queries), fetchAgain(queries)]);
  expect(asked, "questions before the first answer").toBe(1);
  first.resolve("running");
  await fetched;
  expect(observer.getCurrentResult().data, "what the page shows").toBe("succeeded");
  expect(asked, "questions for two changes meanwhile").toBe(2);
  leave();
  queries.clear();
});
