/** Lines at the bottom of a terminal that are redrawn, and text that scrolls above them. */
import { isLive } from "./style.ts";

/** Between two drawings; clocks in the lines continue at this pace without any call. */
const FRAME_MS = 100;
const TICK_MS = 1_000;
const [HIDE_CURSOR, SHOW_CURSOR, CLEAR_BELOW] = ["\x1b[?25l", "\x1b[?25h", "\x1b[0J"];

/** @param draw the lines for a terminal of that size. Where there is no terminal nothing is drawn and text goes out plainly. */
export function createLiveLines(draw: (size: { width: number; height: number }) => string[]) {
  const out = process.stdout;
  const live = isLive();
  let shown: string[] = [];
  let hidden = false;
  let soon: ReturnType<typeof setTimeout> | undefined;

  /** Moves to the first of the drawn lines; a narrower terminal has wrapped them. */
  const back = (): string => {
    const width = out.columns || 80;
    const rows = shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(Bun.stringWidth(line) / width)), 0);
    return rows === 0 ? "" : `\x1b[${rows}A\r`;
  };
  const paintLines = (text = ""): void => {
    const before = back();
    // One row is kept free: the cursor is below the last line.
    shown = hidden ? [] : draw({ width: out.columns || 80, height: Math.max(3, (out.rows || 24) - 1) });
    out.write(`${before}${CLEAR_BELOW}${text}${shown.map((line) => `${line}\n`).join("")}`);
  };
  /** Redraws soon: many calls in a short time draw once. */
  const refresh = (): void => {
    if (!live || hidden || soon !== undefined) return;
    soon = setTimeout(() => {
      soon = undefined;
      if (!hidden) paintLines();
    }, FRAME_MS);
  };
  const tick = live ? setInterval(refresh, TICK_MS) : undefined;
  const restore = () => out.write(SHOW_CURSOR);
  if (live) {
    out.write(HIDE_CURSOR);
    out.on("resize", refresh);
    process.once("exit", restore);
  }
  return {
    refresh,
    /** Writes text above the lines, which stay. */
    above(text: string): void {
      if (live) paintLines(text);
      else out.write(text);
    },
    /** Takes the lines away until `show`, for a question. */
    hide(): void {
      if (!live || hidden) return;
      hidden = true;
      paintLines();
      out.write(SHOW_CURSOR);
    },
    show(): void {
      if (!live || !hidden) return;
      hidden = false;
      out.write(HIDE_CURSOR);
      paintLines();
    },
    /** Draws a last time and leaves the lines where they are. */
    end(): void {
      clearInterval(tick);
      clearTimeout(soon);
      if (!live) return;
      hidden = false;
      paintLines();
      shown = [];
      out.off("resize", refresh);
      process.off("exit", restore);
      restore();
    },
  };
}
