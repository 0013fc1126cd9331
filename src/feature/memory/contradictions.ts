/**
 * Pairs of entries that seem to contradict each other. They are listed for a person, who decides which one is right,
 * and are never merged.
 */

import { toTimestamp } from "../../core/clock.ts";
import { expectFound, invalidField } from "../../core/errors.ts";
import { isId, newId } from "../../core/ids.ts";
import { ownJson } from "../../core/own-json.ts";
import type { Caller } from "../../http/caller.ts";
import { badCursor, type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import type { Core } from "../feature.ts";
import { type Entries, readerOf, writerOf } from "./entries.ts";
import { visibleTo } from "./entry-index.ts";
import type { Contradiction, ContradictionVerdict } from "./model.ts";

interface ContradictionsDeps extends Pick<Core, "store" | "clock"> {
  entries: Pick<Entries, "find" | "findForChange" | "change">;
}

/** Two entries of a vault, each with the words that only it says. */
interface Clash {
  vault: string;
  a: { entry: string; says: string[] };
  b: { entry: string; says: string[] };
}

interface Row {
  id: string;
  vault: string;
  a: string;
  b: string;
  a_says: string;
  b_says: string;
  found_at: string;
}

export type Contradictions = ReturnType<typeof createContradictions>;

export function createContradictions({ store, clock, entries }: ContradictionsDeps) {
  const { statement } = store;
  /** The condition for open pairs: the caller may read both entries, and both are still valid. */
  const open = (caller: Caller) => {
    const reader = readerOf(caller);
    const sides = ["a", "b"].map((side) => {
      const { where, values } = visibleTo(reader);
      const counts = `${where} AND e.superseded_by IS NULL AND (e.expires_at IS NULL OR e.expires_at > ?)`;
      return {
        where: `EXISTS (SELECT 1 FROM memory_entries e WHERE e.vault = c.vault AND e.entry = c.${side} AND ${counts})`,
        values: [...values, toTimestamp(clock.now())],
      };
    });
    return {
      where: `c.settled = 0 AND ${sides.map(({ where }) => where).join(" AND ")}`,
      values: sides.flatMap(({ values }) => values),
    };
  };
  const present =
    (caller: Caller) =>
    (row: Row): Contradiction => {
      const presentSide = (entry: string, says: string) => {
        const { title, content, type, trusted, updated_at } = entries.find(row.vault, entry, readerOf(caller));
        return { entry, title, type, content, trusted, updated_at, says: ownJson<string[]>(says) };
      };
      return {
        id: row.id,
        agent_id: row.vault,
        found_at: row.found_at,
        a: presentSide(row.a, row.a_says),
        b: presentSide(row.b, row.b_says),
      };
    };
  function find(id: string, caller: Caller): Row {
    const { where, values } = open(caller);
    const row = isId("contradiction", id)
      ? statement<Row>(`SELECT c.* FROM memory_contradictions c WHERE c.id = ? AND ${where}`).get(id, ...values)
      : undefined;
    return expectFound(row, "contradiction");
  }

  return {
    /** Oldest first. */
    list(agentId: string | undefined, page: Page, caller: Caller): ListAnswer<Contradiction> {
      if (page.after !== null && !isId("contradiction", page.after)) throw badCursor();
      const { where, values } = open(caller);
      const rows = statement<Row>(
        `SELECT c.* FROM memory_contradictions c WHERE ${where} AND (? IS NULL OR c.vault = ?) AND c.id > ?
         ORDER BY c.id LIMIT ?`,
      ).all(...values, agentId ?? null, agentId ?? null, page.after ?? "", page.limit + 1);
      return listAnswer(rows, page, ({ id }) => id, present(caller));
    },
    /**
     * @throws Problem 404 for a pair that is unknown, settled, or that the caller may not read; 403 for entries that
     * the caller may not change.
     */
    settle(id: string, { keep }: ContradictionVerdict, caller: Caller): { superseded: string | null } {
      const { vault, a, b } = find(id, caller);
      if (keep === null) {
        // To say that both are true, a caller must be allowed to change both.
        for (const entry of [a, b]) entries.findForChange(vault, entry, readerOf(caller));
        store.write(() => statement("UPDATE memory_contradictions SET settled = 1 WHERE id = ?").run(id));
        return { superseded: null };
      }
      if (keep !== a && keep !== b) throw invalidField("/keep", `Must be ${a} or ${b}, or null when both are true`);
      const loser = entries.findForChange(vault, keep === a ? b : a, readerOf(caller));
      entries.change(loser, { superseded_by: keep }, writerOf(caller));
      return { superseded: loser.entry };
    },
    /** Records a contradiction unless the pair is known. @returns whether it is new. */
    add({ vault, a, b }: Clash): boolean {
      const added = store.write(() =>
        statement(
          `INSERT OR IGNORE INTO memory_contradictions (id, vault, a, b, a_says, b_says, found_at)
           VALUES (?, ?, ?, ?, ?, ?, ?)`,
        ).run(
          newId("contradiction"),
          vault,
          a.entry,
          b.entry,
          JSON.stringify(a.says),
          JSON.stringify(b.says),
          toTimestamp(clock.now()),
        ),
      );
      return added.changes > 0;
    },
  };
}
