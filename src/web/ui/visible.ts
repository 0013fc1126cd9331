/**
 * Characters that cannot be seen but change how others read: those that turn the direction of text around (a file
 * `exe.gpj` that shows as `jpg.exe`) and control characters. Shown as what they are, so that nobody approves one text and
 * gets another.
 */
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const ALL = new RegExp(HIDDEN, "g");

const name = (character: string): string => {
  const code = character.charCodeAt(0);
  // Unicode has a picture for each control character of ASCII.
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
};

/** The text with a visible name in place of each such character; fields that are edited keep the text itself. */
export const visible = (text: string): string => (HIDDEN.test(text) ? text.replace(ALL, name) : text);
