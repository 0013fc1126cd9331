/** The visible part of the map and its scale: converts positions on the map to px on the canvas. */
import type { Columns } from "./columns.ts";

/** Radius of a cluster's disc in px from which its symbols are drawn. */
const UNFOLDED = 46;
const MAX_SCALE = 6;

export type MapCamera = ReturnType<typeof createMapCamera>;

export function createMapCamera(canvas: HTMLCanvasElement, { nodes, communities: discs }: Columns) {
  let view = { x: 0, y: 0, scale: 1 };
  const readSize = () => ({ width: canvas.clientWidth, height: canvas.clientHeight });
  return {
    readSize,
    /** Pixels per unit of the map. */
    scale: () => view.scale,
    spot: (x: number, y: number): [number, number] => [(x - view.x) * view.scale, (y - view.y) * view.scale],
    /** Whether a cluster is drawn large enough to show its symbols. */
    isUnfolded: (cluster: number) => cluster >= 0 && discs.r[cluster]! * view.scale >= UNFOLDED,
    radiusOf: (node: number) =>
      Math.min(6, 2 + Math.log2(1 + nodes.degree[node]!) / 2) * Math.min(1.5, Math.max(0.6, view.scale)),
    showBox(left: number, top: number, right: number, bottom: number): void {
      const { width, height } = readSize();
      const scale = Math.min(width / Math.max(right - left, 1), height / Math.max(bottom - top, 1), MAX_SCALE);
      view = { scale, x: (left + right - width / scale) / 2, y: (top + bottom - height / scale) / 2 };
    },
    zoom(factor: number): void {
      const { width, height } = readSize();
      const scale = Math.min(MAX_SCALE, Math.max(0.05, view.scale * factor));
      const toShift = (length: number) => length / view.scale / 2 - length / scale / 2;
      view = { scale, x: view.x + toShift(width), y: view.y + toShift(height) };
    },
    pan(x: number, y: number): void {
      view = { ...view, x: view.x - x / view.scale, y: view.y - y / view.scale };
    },
  };
}
