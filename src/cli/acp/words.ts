/** Sends an agent's words, piece by piece, to an editor that cannot take back what it shows. */

const AGAIN = "\n\n(The reply was interrupted and starts again.)\n\n";

/**
 * When the server stops or the provider fails, the reply is requested again, and it often begins with the same words.
 * The part that the editor already shows is not sent twice.
 */
export function createWords(send: (text: string) => Promise<void>) {
  /** What was sent to the editor since the last `keep`. */
  let shown = "";
  /** How many characters of `shown` the new reply has repeated; undefined while nothing was withdrawn. */
  let repeated: number | undefined;
  return {
    async push(text: string): Promise<void> {
      if (text === "") return;
      if (repeated === undefined) {
        shown += text;
        return send(text);
      }
      const known = shown.slice(repeated, repeated + text.length);
      if (text.startsWith(known)) {
        repeated += known.length;
        if (repeated < shown.length) return;
        repeated = undefined;
        const rest = text.slice(known.length);
        shown += rest;
        return rest === "" ? undefined : send(rest);
      }
      shown = shown.slice(0, repeated) + text;
      repeated = undefined;
      return send(`${AGAIN}${shown}`);
    },
    /** Discards what was said since the last `keep`; the agent says it again. */
    withdraw(): void {
      repeated = shown === "" ? undefined : 0;
    },
    /** Makes what was said so far final. */
    keep(): void {
      shown = "";
      repeated = undefined;
    },
  };
}
