/** Draws the map on a canvas: clusters as discs; near enough, their symbols, then the symbols' names. No React. */
import type { Columns } from "./columns.ts";

export interface MapView {
  /** Shows all of it. */
  fit(): void;
  /** Shows one cluster. */
  show(cluster: number): void;
  zoom(factor: number): void;
  /** Symbols to highlight; an empty set: none. */
  mark(nodes: ReadonlySet<number>): void;
  /** Symbols in files that were changed: only they, and the clusters that hold some, have a color. Null: all have one. */
  color(changed: ReadonlySet<number> | null): void;
  draw(): void;
  /** What is at a position of the canvas. */
  at(x: number, y: number): { node?: number; cluster?: number };
  pan(x: number, y: number): void;
}

/** Pixels of a disc's radius from which its symbols are drawn, and pixels a unit from which they have names. */
const UNFOLDED = 46;
const NAMED = 1.6;
const MAX_SCALE = 6;
const HUES = ["--run", "--ok", "--accent", "--wait", "--bad", "--dim"];

export function createMapView(canvas: HTMLCanvasElement, map: Columns): MapView {
  const context = canvas.getContext("2d")!;
  const { nodes, edges, communities: discs, links } = map;
  let view = { x: 0, y: 0, scale: 1 };
  let marked: ReadonlySet<number> = new Set();
  let changed: ReadonlySet<number> | null = null;
  /** Of each cluster, how much of what is drawn was changed: 0 to 1. */
  let shares: number[] = [];
  let asked = false;
  const size = () => ({ width: canvas.clientWidth, height: canvas.clientHeight });
  const spot = (x: number, y: number): [number, number] => [(x - view.x) * view.scale, (y - view.y) * view.scale];
  const indexes = <T>(list: readonly T[]) => list.keys();
  const isUnfolded = (cluster: number) => cluster >= 0 && discs.r[cluster]! * view.scale >= UNFOLDED;
  const spread = Math.max(1, ...links.count);

  function showBox(left: number, top: number, right: number, bottom: number): void {
    const { width, height } = size();
    const scale = Math.min(width / Math.max(right - left, 1), height / Math.max(bottom - top, 1), MAX_SCALE);
    view = { scale, x: (left + right - width / scale) / 2, y: (top + bottom - height / scale) / 2 };
    request();
  }

  function paint(): void {
    asked = false;
    const { width, height } = size();
    const dense = devicePixelRatio || 1;
    if (canvas.width !== width * dense || canvas.height !== height * dense) {
      canvas.width = width * dense;
      canvas.height = height * dense;
    }
    context.setTransform(dense, 0, 0, dense, 0, 0);
    context.clearRect(0, 0, width, height);
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const hues = HUES.map(colour);
    const [ink, faint, strong] = [colour("--ink"), colour("--dim"), colour("--line-strong")];
    const change = colour("--series-1");
    const inSight = (x: number, y: number, r: number) => x + r > 0 && y + r > 0 && x - r < width && y - r < height;
    paintLinks(strong);
    for (const at of indexes(discs.id)) {
      const [x, y] = spot(discs.x[at]!, discs.y[at]!);
      const r = discs.r[at]! * view.scale;
      if (!inSight(x, y, r)) continue;
      context.beginPath();
      context.arc(x, y, r, 0, 2 * Math.PI);
      const share = shares[at] ?? 0;
      context.globalAlpha = changed
        ? share === 0
          ? 0.12
          : (isUnfolded(at) ? 0.1 : 0.3) + (isUnfolded(at) ? 0.15 : 0.6) * share
        : isUnfolded(at)
          ? 0.1
          : 0.28;
      context.fillStyle = changed ? (share === 0 ? strong : change) : hues[at % hues.length]!;
      context.fill();
      context.globalAlpha = 1;
      context.strokeStyle = strong;
      context.stroke();
    }
    paintEdges(strong);
    paintNodes({ hues, ink, strong, change, inSight });
    paintNames({ ink, faint, inSight });
  }

  function paintLinks(colour: string): void {
    context.strokeStyle = colour;
    for (const at of indexes(links.from)) {
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

  /** Edges within one cluster; those between clusters are drawn as links of the clusters. */
  function paintEdges(colour: string): void {
    context.strokeStyle = colour;
    context.globalAlpha = 0.5;
    context.beginPath();
    for (const at of indexes(edges.from)) {
      const [from, to] = [edges.from[at]!, edges.to[at]!];
      if (nodes.community[from] !== nodes.community[to] || !isUnfolded(nodes.community[from]!)) continue;
      context.moveTo(...spot(nodes.x[from]!, nodes.y[from]!));
      context.lineTo(...spot(nodes.x[to]!, nodes.y[to]!));
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  type Sight = (x: number, y: number, r: number) => boolean;
  const radiusOf = (node: number) =>
    Math.min(6, 2 + Math.log2(1 + nodes.degree[node]!) / 2) * Math.min(1.5, Math.max(0.6, view.scale));

  interface NodePaint {
    hues: string[];
    ink: string;
    strong: string;
    change: string;
    inSight: Sight;
  }
  function paintNodes({ hues, ink, strong, change, inSight }: NodePaint): void {
    for (const node of indexes(nodes.id)) {
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

  function paintNames({ ink, faint, inSight }: { ink: string; faint: string; inSight: Sight }): void {
    context.textAlign = "center";
    context.textBaseline = "middle";
    const font = getComputedStyle(document.body).fontFamily;
    context.font = `600 12px ${font}`;
    context.fillStyle = ink;
    const taken: { x: number; y: number; half: number }[] = [];
    // The largest come first: where two names would overlap, the smaller cluster has none until it is nearer.
    for (const at of indexes(discs.id)) {
      const r = discs.r[at]! * view.scale;
      const [x, middle] = spot(discs.x[at]!, discs.y[at]!);
      if (!inSight(x, middle, r) || r < 16) continue;
      const y = isUnfolded(at) ? middle - r - 8 : middle;
      const text = shortened(discs.label[at]!, Math.max(r * 2, 90));
      const half = context.measureText(text).width / 2 + 3;
      if (taken.some((one) => Math.abs(one.y - y) < 14 && Math.abs(one.x - x) < one.half + half)) continue;
      taken.push({ x, y, half });
      context.fillText(text, x, y);
    }
    if (view.scale < NAMED) return;
    context.font = `11px ${font}`;
    context.fillStyle = faint;
    for (const node of indexes(nodes.id)) {
      const [x, y] = spot(nodes.x[node]!, nodes.y[node]!);
      if (inSight(x, y, 40))
        context.fillText(shortened(nodes.name[node]!, 14 * view.scale * 1.6), x, y + radiusOf(node) + 8);
    }
  }

  function shortened(text: string, width: number): string {
    if (context.measureText(text).width <= width) return text;
    let end = text.length;
    while (end > 1 && context.measureText(`${text.slice(0, end)}…`).width > width) end--;
    return `${text.slice(0, end)}…`;
  }

  const request = () => {
    if (!asked) requestAnimationFrame(paint);
    asked = true;
  };
  const whole = discs.x.map((x, at) => ({ x, y: discs.y[at]!, r: discs.r[at]! }));
  return {
    draw: request,
    fit() {
      const edge = (of: (disc: (typeof whole)[number]) => number) => whole.map(of);
      showBox(
        Math.min(...edge(({ x, r }) => x - r)) - 20,
        Math.min(...edge(({ y, r }) => y - r)) - 30,
        Math.max(...edge(({ x, r }) => x + r)) + 20,
        Math.max(...edge(({ y, r }) => y + r)) + 20,
      );
    },
    show(cluster) {
      const { x, y, r } = whole[cluster]!;
      showBox(x - r - 10, y - r - 24, x + r + 10, y + r + 10);
    },
    zoom(factor) {
      const { width, height } = size();
      const scale = Math.min(MAX_SCALE, Math.max(0.05, view.scale * factor));
      const by = (length: number) => length / view.scale / 2 - length / scale / 2;
      view = { scale, x: view.x + by(width), y: view.y + by(height) };
      request();
    },
    pan(x, y) {
      view = { ...view, x: view.x - x / view.scale, y: view.y - y / view.scale };
      request();
    },
    mark(next) {
      marked = next;
      request();
    },
    color(next) {
      changed = next;
      const counts = discs.id.map(() => ({ all: 0, changed: 0 }));
      for (const node of indexes(nodes.id)) {
        const count = counts[nodes.community[node]!];
        if (!count) continue;
        count.all++;
        if (next?.has(node)) count.changed++;
      }
      shares = counts.map((count) => (count.all === 0 ? 0 : count.changed / count.all));
      request();
    },
    at(x, y) {
      const cluster = whole.findIndex((disc) => {
        const [left, top] = spot(disc.x, disc.y);
        return Math.hypot(left - x, top - y) <= disc.r * view.scale;
      });
      if (cluster < 0) return {};
      if (!isUnfolded(cluster)) return { cluster };
      const node = nodes.community.findIndex((one, at) => {
        if (one !== cluster) return false;
        const [left, top] = spot(nodes.x[at]!, nodes.y[at]!);
        return Math.hypot(left - x, top - y) <= radiusOf(at) + 4;
      });
      return node < 0 ? { cluster } : { cluster, node };
    },
  };
}
