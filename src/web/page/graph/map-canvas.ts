/** The map on a canvas: it can be moved, marked and colored, and says what is at a position. It does not use React. */
import type { Columns } from "./columns.ts";
import { createMapCamera } from "./map-camera.ts";
import { createMapPainter } from "./map-painter.ts";

export interface MapView {
  /** Shows the whole map. */
  fit(): void;
  /** Shows one cluster. */
  show(cluster: number): void;
  zoom(factor: number): void;
  /** Symbols to highlight; an empty set: none. */
  mark(nodes: ReadonlySet<number>): void;
  /**
   * Indexes of symbols in changed files. Only these and the clusters that contain some are colored. Null: all are
   * colored.
   */
  color(changed: ReadonlySet<number> | null): void;
  draw(): void;
  /** What is at a position of the canvas. */
  at(x: number, y: number): { node?: number; cluster?: number };
  pan(x: number, y: number): void;
}

export function createMapView(canvas: HTMLCanvasElement, map: Columns): MapView {
  const { nodes, communities: discs } = map;
  const camera = createMapCamera(canvas, map);
  const { spot, isUnfolded } = camera;
  const paint = createMapPainter(canvas, map, camera);
  let marked: ReadonlySet<number> = new Set();
  let changed: ReadonlySet<number> | null = null;
  let shares: number[] = [];
  let asked = false;
  const request = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      paint({ marked, changed, shares });
    });
  };
  const whole = discs.x.map((x, at) => ({ x, y: discs.y[at]!, r: discs.r[at]! }));
  return {
    draw: request,
    fit() {
      const mapDiscs = (of: (disc: (typeof whole)[number]) => number) => whole.map(of);
      camera.showBox(
        Math.min(...mapDiscs(({ x, r }) => x - r)) - 20,
        Math.min(...mapDiscs(({ y, r }) => y - r)) - 30,
        Math.max(...mapDiscs(({ x, r }) => x + r)) + 20,
        Math.max(...mapDiscs(({ y, r }) => y + r)) + 20,
      );
      request();
    },
    show(cluster) {
      const { x, y, r } = whole[cluster]!;
      camera.showBox(x - r - 10, y - r - 24, x + r + 10, y + r + 10);
      request();
    },
    zoom(factor) {
      camera.zoom(factor);
      request();
    },
    pan(x, y) {
      camera.pan(x, y);
      request();
    },
    mark(next) {
      marked = next;
      request();
    },
    color(next) {
      changed = next;
      const counts = discs.id.map(() => ({ all: 0, changed: 0 }));
      for (const node of nodes.id.keys()) {
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
        return Math.hypot(left - x, top - y) <= disc.r * camera.scale();
      });
      if (cluster < 0) return {};
      if (!isUnfolded(cluster)) return { cluster };
      const node = nodes.community.findIndex((one, at) => {
        if (one !== cluster) return false;
        const [left, top] = spot(nodes.x[at]!, nodes.y[at]!);
        return Math.hypot(left - x, top - y) <= camera.radiusOf(at) + 4;
      });
      return node < 0 ? { cluster } : { cluster, node };
    },
  };
}
