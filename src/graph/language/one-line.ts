const MAX_TEXT = 240;

/** A text on one line, at most 240 characters. */
export const oneLine = (text: string): string =>
  text
    .slice(0, MAX_TEXT * 2)
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, MAX_TEXT);
