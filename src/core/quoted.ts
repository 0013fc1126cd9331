/** Quotes text of others. Every line is marked, so that nothing in it can be taken for our own words. */
export function quoteLines(text: string, most: number): string {
  const cut = text.length > most ? `${text.slice(0, most)}\n[${text.length - most} more characters]` : text;
  return cut
    .toWellFormed()
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => `> ${line}`)
    .join("\n");
}
