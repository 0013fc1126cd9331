/** Reduces the timeline's events to facts: a session's start, end and result become one entry. */

/** The fields of an event that are needed here. */
interface Happening {
  kind: string;
  session_id?: string;
  data: Record<string, unknown>;
}

/** Event kinds that report how a session went. */
const RESULTS = new Set(["step_complete", "step_failed", "pulse_complete", "pulse_failed", "turn_ended"]);

/**
 * Keeps the newest event of each session, each answer in a chat, and what agents said. A session's start or end is left
 * out if a newer event covers it.
 * @param rows newest first.
 */
export function factsOf<Row extends Happening>(rows: readonly Row[]): Row[] {
  const seen = new Set<string>();
  return rows.filter(({ kind, session_id = "", data }) => {
    // A note of the engine about a prompt (which skills it added) is not a fact of its own.
    if (kind === "activity") return !("skills" in data);
    if (kind !== "session_started" && kind !== "session_ended" && !RESULTS.has(kind)) return true;
    const isOld = seen.has(session_id);
    if (session_id !== "") seen.add(session_id);
    return kind === "turn_ended" || !isOld;
  });
}
