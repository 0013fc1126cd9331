/** Detects whether this machine can draw an emoji. Without a suitable font, a browser draws a box. */

const SIZE = 16;
const known = new Map<string, boolean>();

/** A drawn emoji has several colors; text and boxes have only the one that they are drawn in. */
function hasColors(emoji: string): boolean {
  const canvas = document.createElement("canvas");
  canvas.width = SIZE;
  canvas.height = SIZE;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) return false;
  context.textBaseline = "top";
  context.font = `${SIZE - 2}px sans-serif`;
  context.fillText(emoji, 0, 0);
  const { data } = context.getImageData(0, 0, SIZE, SIZE);
  for (let at = 0; at < data.length; at += 4) if (data[at] !== data[at + 1] || data[at] !== data[at + 2]) return true;
  return false;
}

/** The emoji followed by a space; empty if there is none, or if a box would be drawn. */
export function emojiBefore(emoji: string | null | undefined): string {
  if (!emoji) return "";
  if (!known.has(emoji)) known.set(emoji, hasColors(emoji));
  return known.get(emoji) ? `${emoji} ` : "";
}
