/** Words of a question as an FTS5 expression: every word quoted, joined by OR. */

const STOP_WORDS = new Set(
  `a about all am an and any are as at be been but by can could did do does for from had has have he her him his how i if in
   into is it its just me my no not of on or our she should so than that the their them then there these they this to was
   we were what when where which who whom why will with would you your`.split(/\s+/),
);
const MAX_TERMS = 48;

/** Nothing in the question is read as an operator. @returns undefined without words. */
export function matchExpression(query: string): string | undefined {
  const words = [
    ...new Set(
      query
        .normalize("NFC")
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu) ?? [],
    ),
  ];
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  const terms = (telling.length > 0 ? telling : words).slice(0, MAX_TERMS);
  return terms.length === 0 ? undefined : terms.map((term) => `"${term}"`).join(" OR ");
}
