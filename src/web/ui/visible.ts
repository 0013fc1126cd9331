/**
 * Makes invisible characters visible that change how a text is read: control characters, and those that change the
 * direction of text (the file `exe.gpj` appears as `jpg.exe`). Otherwise a person might approve one text and get
 * another.
 */
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const ALL = new RegExp(HIDDEN, "g");

const nameCharacter = (character: string): string => {
  const code = character.charCodeAt(0);
  // Unicode has a picture for each ASCII control character.
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
};

/** Replaces each such character by a visible name. Fields that are edited keep the original text. */
export const escapeUnseen = (text: string): string => (HIDDEN.test(text) ? text.replace(ALL, nameCharacter) : text);
