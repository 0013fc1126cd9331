/** What an agent says, piece by piece, to an editor that cannot take back what it shows. */

const AGAIN = "\n\n(The reply was interrupted and starts again.)\n\n";

/**
 * A reply that is asked for again, since the server stopped or the provider failed, often begins as it did before: what
 * the editor shows already is not sent twice.
 */
export function createWords(send: (text: string) => Promise<void>) {
  /** What the editor shows since the last `keep`. */
  let shown = "";
  /** How much of it has been said again; undefined while nothing was withdrawn. */
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
    /** What was said since the last `keep` no longer counts, and is said again. */
    withdraw(): void {
      repeated = shown === "" ? undefined : 0;
    },
    /** What was said so far counts. */
    keep(): void {
      shown = "";
      repeated = undefined;
    },
  };
}
