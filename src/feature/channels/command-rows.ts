/** Commands that came in from messengers, as rows. */
import { type Clock, HOUR_MS, toTimestamp } from "../../core/clock.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { removeOld } from "../../store/remove-old.ts";
import type { Store } from "../../store/store.ts";
import { phoneCommands as table } from "../../store/tables/messengers.ts";
import { digestOf } from "./links.ts";
import type { Answer } from "./questions.ts";

export type CommandRow = typeof table.$inferSelect;

const OUTCOME_CHARACTERS = 1_000;

export function createCommandRows(store: Store, clock: Clock) {
  const rows = store.rows(table);

  function insert(row: Pick<CommandRow, "channel_id" | "verb"> & Partial<CommandRow>): string {
    const id = newId("phoneCommand");
    rows.insert({
      id,
      task: "",
      expires_at: toTimestamp(clock.now() + LIMITS.phoneCommandMinutes * 60_000),
      created_at: toTimestamp(clock.now()),
      ...row,
    });
    return id;
  }
  /** Stores the outcome and erases the task, which is no longer needed. */
  function close(id: string, outcome: string, runId: string | null = null): void {
    rows.update({ outcome: outcome.slice(0, OUTCOME_CHARACTERS), run_id: runId, task: "" }, { id });
  }

  return {
    insert,
    close,
    countOfHour: (channelId: string): number =>
      rows.count({ channel_id: channelId }, ["created_at > ?", toTimestamp(clock.now() - HOUR_MS)]),
    /** Stores the id of the message that asks for confirmation. */
    noteMessage(id: string, message: string): void {
      store.write(() => rows.update({ message }, { id }));
    },
    ofToken(token: string): { command: CommandRow; answer: Answer } | undefined {
      const digest = digestOf(token);
      const yes = rows.find({ yes_hash: digest });
      const command = yes ?? rows.find({ no_hash: digest });
      return command && { command, answer: yes ? "yes" : "no" };
    },
    at: (channelId: string, message: string): CommandRow | undefined => rows.find({ channel_id: channelId, message }),
    /** Removes commands that are too old to count towards the hourly limit. */
    prune: (): boolean => removeOld(store, "phone_commands", "created_at < ?", toTimestamp(clock.now() - 2 * HOUR_MS)),
  };
}
