/** `store/whose.ts` decides, from one list of policies, who may read a row. No feature compares owners itself. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { filesOf, textOf } from "./source-files.ts";

// Every file is read, which on a busy machine takes longer than the usual limit.
setDefaultTimeout(300_000);

const OWNER = "\\b(?:user_id|owner_id|created_by)\\b";
const CALLER = "\\(?(?:caller|reader|asker)\\b";
/** Comparisons of an owner with the caller, in code or for the query builder, and statements for a caller's rows. */
const BY_HAND = [
  new RegExp(`${OWNER} *[!=]== *${CALLER}`),
  new RegExp(`${CALLER}[\\w.]*\\.userId[^=;\\n]{0,20}[!=]== *\\w+\\.${OWNER}`),
  new RegExp(`\\beq\\(\\w+\\.${OWNER}, *${CALLER}`),
  new RegExp(`\\b(?:caller|reader|asker)\\.admin *\\|\\| .*${OWNER}`),
];

const linesByHand = (text: string): string[] =>
  text.split("\n").filter((line) => BY_HAND.some((one) => one.test(line)));

test("answers by hand are found", () => {
  const text = `
    if (!row || row.user_id !== (caller.userId ?? null)) throw notFound("chat");
    const own = eq(table.owner_id, caller.userId);
    return caller.admin || (user_id !== null && user_id === me);
    if (caller.userId === row.created_by) return row;
    const row = { user_id: caller.userId ?? null };
    if (!row || !mayRead(caller, WHOSE.jobs, row)) throw notFound("job");`;
  expect(linesByHand(text)).toHaveLength(4);
});

test("no feature says by itself whose a row is", () => {
  const found = [...filesOf("feature/**/*.ts"), ...filesOf("http/**/*.ts")].flatMap((file) =>
    linesByHand(textOf(file)).map((line) => `${file}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});
