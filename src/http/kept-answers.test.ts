import { expect, test } from "bun:test";
import type { Caller } from "./caller.ts";
import { createKeptAnswers } from "./kept-answers.ts";

const ada: Caller = { kind: "user", admin: false, userId: "usr_ada" };
const ben: Caller = { kind: "user", admin: false, userId: "usr_ben" };

function rig() {
  const state = { version: 1, made: 0 };
  const kept = createKeptAnswers(() => state.version);
  const ask = async (caller: Caller, target: string, make?: () => Promise<Response> | Response) => {
    const answer = await kept.answer(caller, target, async () => {
      state.made++;
      return make ? make() : Response.json({ by: caller.userId ?? null, target, made: state.made });
    });
    return { status: answer.status, type: answer.headers.get("content-type"), body: await answer.json() };
  };
  return { state, ask };
}

test("an answer is made once until something is written", async () => {
  const { state, ask } = rig();
  const first = await ask(ada, "/v1/runs?limit=2");
  expect(await ask(ada, "/v1/runs?limit=2")).toEqual(first);
  expect(state.made).toBe(1);
  state.version++;
  expect((await ask(ada, "/v1/runs?limit=2")).body).toEqual({ by: "usr_ada", target: "/v1/runs?limit=2", made: 2 });
});

test("no caller gets another's answer, nor one of another address or of other rights", async () => {
  const { state, ask } = rig();
  const of = async (caller: Caller, target = "/v1/runs") => (await ask(caller, target)).body;
  expect(await of(ada)).toMatchObject({ by: "usr_ada", made: 1 });
  expect(await of(ben)).toMatchObject({ by: "usr_ben", made: 2 });
  expect(await of(ada, "/v1/runs?limit=1")).toMatchObject({ made: 3 });
  expect(await of({ ...ada, admin: true })).toMatchObject({ made: 4 });
  expect(await of({ ...ada, scopes: ["read"] })).toMatchObject({ made: 5 });
  expect(state.made).toBe(5);
});

test("what was written while an answer was made, problems and executions' answers are not kept", async () => {
  const { state, ask } = rig();
  await ask(ada, "/a", () => {
    state.version++;
    return Response.json({ old: true });
  });
  expect((await ask(ada, "/a", () => Response.json({ old: false }))).body).toEqual({ old: false });
  await ask(ada, "/b", () => Response.json({ code: "not_found" }, { status: 404 }));
  expect((await ask(ada, "/b")).status).toBe(200);
  const execution: Caller = {
    kind: "execution",
    admin: false,
    execution: { id: "exe_1", agentId: "scribe" } as NonNullable<Caller["execution"]>,
  };
  const before = state.made;
  await ask(execution, "/c");
  await ask(execution, "/c");
  expect(state.made).toBe(before + 2);
});

test("all kept answers together stay within their bound", async () => {
  const { state, ask } = rig();
  const large = { text: "x".repeat(400_000) };
  for (let n = 0; n < 30; n++) await ask(ada, `/${n}`, () => Response.json(large));
  // The newest are there, the first are not.
  const before = state.made;
  await ask(ada, "/29", () => Response.json(large));
  expect(state.made).toBe(before);
  await ask(ada, "/0", () => Response.json(large));
  expect(state.made).toBe(before + 1);
});
