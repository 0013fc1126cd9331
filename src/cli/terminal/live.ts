/** Lines at the bottom of a terminal that are redrawn, and text that scrolls above them. */
import { isLive } from "./style.ts";

/**
 * Shortest time between two drawings, and the interval at which lines are redrawn without a call, so that clocks
 * advance.
 */
const FRAME_MS = 100;
const TICK_MS = 1_000;
const [HIDE_CURSOR, SHOW_CURSOR, CLEAR_BELOW] = ["\x1b[?25l", "\x1b[?25h", "\x1b[0J"];

/**
 * @param draw returns the lines for a terminal of that size. Without a terminal nothing is drawn, and text is written
 * plainly.
 */
export function createLiveLines(draw: (size: { width: number; height: number }) => string[]) {
  const out = process.stdout;
  const live = isLive();
  let shown: string[] = [];
  let hidden = false;
  let soon: ReturnType<typeof setTimeout> | undefined;

  /**
   * Moves to the first drawn line. A terminal that has become narrower has wrapped the lines, so their rows are
   * counted.
   */
  const rewind = (): string => {
    const width = out.columns || 80;
    const rows = shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(Bun.stringWidth(line) / width)), 0);
    return rows === 0 ? "" : `\x1b[${rows}A\r`;
  };
  const paintLines = (text = ""): void => {
    const before = rewind();
    // Keep one row free for the cursor, which is below the last line.
    shown = hidden ? [] : draw({ width: out.columns || 80, height: Math.max(3, (out.rows || 24) - 1) });
    out.write(`${before}${CLEAR_BELOW}${text}${shown.map((line) => `${line}\n`).join("")}`);
  };
  /** Redraws soon; many calls within a short time draw once. */
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
    /** Writes text above the live lines. */
    above(text: string): void {
      if (live) paintLines(text);
      else out.write(text);
    },
    /** Removes the lines until `show`, to make room for a question. */
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
    /** Draws a last time and leaves the lines on the screen. */
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
