/**
 * Parses JSON that this program itself wrote: a column, a sealed text, a file of the data folder, an answer of its own
 * API. Its type is trusted. JSON from anyone else is `unknown` until a schema has checked it.
 * @throws SyntaxError when it is damaged.
 */
export const ownJson = <T>(text: string): T => JSON.parse(text);
