/** Whether this machine can draw an emoji. Without a font for them a browser draws a box. */

const SIZE = 16;
const known = new Map<string, boolean>();

/** An emoji's own colors: text and boxes have the one they are drawn in. */
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

/** The emoji with a space behind it; nothing where there is none, or where it would be a box. */
export function emojiBefore(emoji: string | null | undefined): string {
  if (!emoji) return "";
  if (!known.has(emoji)) known.set(emoji, hasColors(emoji));
  return known.get(emoji) ? `${emoji} ` : "";
}
