/**
 * Draws the icon as PNG for phones and tablets. The strokes of `icon.svg` are horizontal lines with round ends, so the
 * distance of a point to the nearest line determines how much of it is painted. The output is always the same, and no
 * drawing program is needed.
 */
import { crc32, deflateSync } from "node:zlib";

interface Stroke {
  x: number;
  y: number;
  length: number;
}

interface Drawing {
  strokes: Stroke[];
  width: number;
  color: Color;
  /** Side length of the square view box. */
  side: number;
}

type Color = readonly [red: number, green: number, blue: number];

interface IconLook {
  pixels: number;
  /** Background color; transparent if not set. */
  background?: string;
  /** Fraction of the side that the drawing occupies. */
  scale: number;
}

const colorOf = (text: string): Color => [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16)) as never;

/** @throws Error for a drawing of another kind, which this code cannot draw. */
export function readIcon(svg: string): Drawing {
  const [, side] = /viewBox="0 0 (\d+) \1"/.exec(svg) ?? [];
  const [, color] = /stroke="(#[0-9a-f]{6})"/.exec(svg) ?? [];
  const [, width] = /stroke-width="([\d.]+)"/.exec(svg) ?? [];
  const [, path = ""] = / d="([^"]+)"/.exec(svg) ?? [];
  const strokes = [...path.matchAll(/M([\d.]+) ([\d.]+)h([\d.]+)/g)].map(([, x, y, length]) => ({
    x: Number(x),
    y: Number(y),
    length: Number(length),
  }));
  const isWhole = strokes.map(({ x, y, length }) => `M${x} ${y}h${length}`).join("") === path;
  if (!side || !color || !width || !isWhole || strokes.length === 0 || !svg.includes('stroke-linecap="round"'))
    throw new Error(
      "icon.svg is not made of level lines with round ends: scripts/dashboard/icon-png.ts cannot draw it",
    );
  return { strokes, width: Number(width), color: colorOf(color), side: Number(side) };
}

/** How much of a point is painted, from 0 to 1. The edge of a line is one pixel wide. */
function coverOf({ strokes, width }: Drawing, x: number, y: number, pixel: number): number {
  let nearest = Number.POSITIVE_INFINITY;
  for (const stroke of strokes) {
    const along = Math.min(Math.max(x - stroke.x, 0), stroke.length);
    nearest = Math.min(nearest, Math.hypot(x - stroke.x - along, y - stroke.y));
  }
  return Math.min(Math.max((width / 2 - nearest) / pixel + 0.5, 0), 1);
}

export function drawIcon(drawing: Drawing, { pixels, background, scale }: IconLook): Uint8Array {
  const behind = background === undefined ? undefined : colorOf(background);
  const pixel = drawing.side / (pixels * scale);
  const margin = (drawing.side * (1 - 1 / scale)) / 2;
  const lines = Buffer.alloc(pixels * (1 + pixels * 4));
  let at = 0;
  for (let row = 0; row < pixels; row++) {
    // PNG filter type 0: the line is stored unfiltered.
    lines[at++] = 0;
    for (let column = 0; column < pixels; column++) {
      const [x, y] = [margin + (column + 0.5) * pixel, margin + (row + 0.5) * pixel];
      const cover = coverOf(drawing, x, y, pixel);
      for (const [channel, value] of drawing.color.entries())
        lines[at++] = behind ? Math.round(value * cover + behind[channel]! * (1 - cover)) : value;
      lines[at++] = behind ? 255 : Math.round(255 * cover);
    }
  }
  return pngOf(pixels, lines);
}

/** https://www.w3.org/TR/png-3/: header, data, end; 8 bits each for red, green, blue and alpha. */
function pngOf(pixels: number, lines: Uint8Array): Uint8Array {
  const chunk = (type: string, data: Uint8Array): Buffer => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.byteLength);
    check.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, check]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(pixels, 0);
  head.writeUInt32BE(pixels, 4);
  head.set([8, 6, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(lines, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** The background color of the dashboard's manifest. */
const BACKGROUND = "#17130d";

/** The files and what they contain. A launcher may cut off a tenth of a maskable icon at each side. */
export const ICONS: Readonly<Record<string, IconLook>> = {
  "icon-192.png": { pixels: 192, scale: 1 },
  "icon-512.png": { pixels: 512, scale: 1 },
  "maskable-512.png": { pixels: 512, scale: 0.62, background: BACKGROUND },
  "apple-touch-180.png": { pixels: 180, scale: 0.78, background: BACKGROUND },
};
