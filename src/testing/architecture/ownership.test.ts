/** Who may read a row is answered by `store/whose.ts`, from one list of policies; no feature compares owners by itself. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { filesOf, textOf } from "./source-files.ts";

// Every file is read: on a busy machine that takes longer than the usual bound.
setDefaultTimeout(300_000);

const OWNER = "\\b(?:user_id|owner_id|created_by)\\b";
const CALLER = "\\(?(?:caller|reader|asker)\\b";
/** An owner compared with the caller, in code or for the query builder, and a statement that asks for a caller's rows. */
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
