/** Events of the timeline as facts: what began, ended and gave a result is one of them. */

/** What of an event is needed here. */
interface Happening {
  kind: string;
  session_id?: string;
  data: Record<string, unknown>;
}

/** Kinds that say how a session went. */
const RESULTS = new Set(["step_complete", "step_failed", "pulse_complete", "pulse_failed", "turn_ended"]);

/**
 * @param rows newest first. @returns the last word on each session, each answer of a chat, and what agents said. That a
 * session began or ended is left out where something newer says it.
 */
export function factsOf<Row extends Happening>(rows: readonly Row[]): Row[] {
  const seen = new Set<string>();
  return rows.filter(({ kind, session_id = "", data }) => {
    // What the engine put into a prompt is no fact of its own.
    if (kind === "activity") return !("skills" in data);
    if (kind !== "session_started" && kind !== "session_ended" && !RESULTS.has(kind)) return true;
    const isOld = seen.has(session_id);
    if (session_id !== "") seen.add(session_id);
    return kind === "turn_ended" || !isOld;
  });
}
