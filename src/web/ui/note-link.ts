/** `[[decision/one-writer]]`, `[[decision/one-writer|another name]]`: how an agent's notes lead to each other. */
export const NOTE_LINK = /\[\[([^[\]|\n]{1,200})(?:\|([^[\]\n]{0,200}))?\]\]/g;
