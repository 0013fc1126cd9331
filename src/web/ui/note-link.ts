/** Matches the links between an agent's notes: `[[decision/one-writer]]`, `[[decision/one-writer|another name]]`. */
export const NOTE_LINK = /\[\[([^[\]|\n]{1,200})(?:\|([^[\]\n]{0,200}))?\]\]/g;
