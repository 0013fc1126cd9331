/** Draws the map on a canvas: clusters as discs; at higher scales also their symbols, then the symbols' names. */
import type { Columns } from "./columns.ts";
import type { MapCamera } from "./map-camera.ts";

/** Scale in px per unit from which symbols have names. */
const NAMED = 1.6;
const HUES = ["--run", "--ok", "--accent", "--wait", "--bad", "--dim"];

interface MapScene {
  /** Symbols to highlight. */
  marked: ReadonlySet<number>;
  /** If set, only changed symbols are colored; null: all are. */
  changed: ReadonlySet<number> | null;
  /** For each cluster, the share of its drawn symbols that was changed, from 0 to 1. */
  shares: readonly number[];
}

interface Colours {
  hues: string[];
  ink: string;
  faint: string;
  strong: string;
  change: string;
}

/** Whether part of a disc is visible on the canvas. */
type Sight = (x: number, y: number, r: number) => boolean;

export function createMapPainter(canvas: HTMLCanvasElement, map: Columns, camera: MapCamera) {
  const context = canvas.getContext("2d")!;
  const { nodes, edges, communities: discs, links } = map;
  const { spot, scale, isUnfolded, radiusOf } = camera;
  const spread = Math.max(1, ...links.count);

  function paintLinks(colour: string): void {
    context.strokeStyle = colour;
    for (const at of links.from.keys()) {
      const [from, to] = [links.from[at]!, links.to[at]!];
      context.lineWidth = 1 + 4 * (Math.log1p(links.count[at]!) / Math.log1p(spread));
      context.globalAlpha = 0.45;
      const [x, y] = [discs.x[to]! - discs.x[from]!, discs.y[to]! - discs.y[from]!];
      const far = Math.hypot(x, y);
      const [start, end] = [discs.r[from]! / far, 1 - discs.r[to]! / far];
      context.beginPath();
      context.moveTo(...spot(discs.x[from]! + x * start, discs.y[from]! + y * start));
      context.lineTo(...spot(discs.x[from]! + x * end, discs.y[from]! + y * end));
      context.stroke();
    }
    context.globalAlpha = 1;
    context.lineWidth = 1;
  }

  /** Draws the edges within one cluster. Edges between clusters are drawn as links of the clusters. */
  function paintEdges(colour: string): void {
    context.strokeStyle = colour;
    context.globalAlpha = 0.5;
    context.beginPath();
    for (const at of edges.from.keys()) {
      const [from, to] = [edges.from[at]!, edges.to[at]!];
      if (nodes.community[from] !== nodes.community[to] || !isUnfolded(nodes.community[from]!)) continue;
      context.moveTo(...spot(nodes.x[from]!, nodes.y[from]!));
      context.lineTo(...spot(nodes.x[to]!, nodes.y[to]!));
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  function paintDiscs({ hues, strong, change }: Colours, { changed, shares }: MapScene, inSight: Sight): void {
    for (const at of discs.id.keys()) {
      const [x, y] = spot(discs.x[at]!, discs.y[at]!);
      const r = discs.r[at]! * scale();
      if (!inSight(x, y, r)) continue;
      context.beginPath();
      context.arc(x, y, r, 0, 2 * Math.PI);
      const share = shares[at] ?? 0;
      const [least, more] = isUnfolded(at) ? [0.1, 0.15] : [0.3, 0.6];
      const plain = isUnfolded(at) ? 0.1 : 0.28;
      context.globalAlpha = changed ? (share === 0 ? 0.12 : least + more * share) : plain;
      context.fillStyle = changed ? (share === 0 ? strong : change) : hues[at % hues.length]!;
      context.fill();
      context.globalAlpha = 1;
      context.strokeStyle = strong;
      context.stroke();
    }
  }

  function paintNodes({ hues, ink, strong, change }: Colours, { marked, changed }: MapScene, inSight: Sight): void {
    for (const node of nodes.id.keys()) {
      const isMarked = marked.has(node);
      if (!isMarked && !isUnfolded(nodes.community[node]!)) continue;
      const [x, y] = spot(nodes.x[node]!, nodes.y[node]!);
      if (!inSight(x, y, 8)) continue;
      context.beginPath();
      context.arc(x, y, radiusOf(node) + (isMarked ? 2 : 0), 0, 2 * Math.PI);
      const own = changed ? (changed.has(node) ? change : strong) : hues[nodes.community[node]! % hues.length]!;
      context.fillStyle = isMarked ? ink : own;
      context.fill();
    }
  }

  function paintNames({ ink, faint }: Colours, inSight: Sight): void {
    context.textAlign = "center";
    context.textBaseline = "middle";
    const font = getComputedStyle(document.body).fontFamily;
    context.font = `600 12px ${font}`;
    context.fillStyle = ink;
    const taken: { x: number; y: number; half: number }[] = [];
    // Larger clusters come first: where two names would overlap, the smaller cluster gets its name only at a larger
    // scale.
    for (const at of discs.id.keys()) {
      const r = discs.r[at]! * scale();
      const [x, middle] = spot(discs.x[at]!, discs.y[at]!);
      if (!inSight(x, middle, r) || r < 16) continue;
      const y = isUnfolded(at) ? middle - r - 8 : middle;
      const text = shorten(discs.label[at]!, Math.max(r * 2, 90));
      const half = context.measureText(text).width / 2 + 3;
      if (taken.some((one) => Math.abs(one.y - y) < 14 && Math.abs(one.x - x) < one.half + half)) continue;
      taken.push({ x, y, half });
      context.fillText(text, x, y);
    }
    if (scale() < NAMED) return;
    context.font = `11px ${font}`;
    context.fillStyle = faint;
    for (const node of nodes.id.keys()) {
      const [x, y] = spot(nodes.x[node]!, nodes.y[node]!);
      if (inSight(x, y, 40))
        context.fillText(shorten(nodes.name[node]!, 14 * scale() * 1.6), x, y + radiusOf(node) + 8);
    }
  }

  function shorten(text: string, width: number): string {
    if (context.measureText(text).width <= width) return text;
    let end = text.length;
    while (end > 1 && context.measureText(`${text.slice(0, end)}…`).width > width) end--;
    return `${text.slice(0, end)}…`;
  }

  return (scene: MapScene): void => {
    const { width, height } = camera.readSize();
    const dense = devicePixelRatio || 1;
    if (canvas.width !== width * dense || canvas.height !== height * dense) {
      canvas.width = width * dense;
      canvas.height = height * dense;
    }
    context.setTransform(dense, 0, 0, dense, 0, 0);
    context.clearRect(0, 0, width, height);
    const style = getComputedStyle(document.documentElement);
    const readColour = (name: string) => style.getPropertyValue(name).trim();
    const colours: Colours = {
      hues: HUES.map(readColour),
      ink: readColour("--ink"),
      faint: readColour("--dim"),
      strong: readColour("--line-strong"),
      change: readColour("--series-1"),
    };
    const inSight: Sight = (x, y, r) => x + r > 0 && y + r > 0 && x - r < width && y - r < height;
    paintLinks(colours.strong);
    paintDiscs(colours, scene, inSight);
    paintEdges(colours.strong);
    paintNodes(colours, scene, inSight);
    paintNames(colours, inSight);
  };
}
