const TITLE_CHARACTERS = 200;

/** The first non-empty line, as a title. */
export const firstLine = (text: string): string => text.trim().split("\n", 1)[0]!.trim().slice(0, TITLE_CHARACTERS);
