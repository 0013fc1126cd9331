/**
 * An edge back to an earlier step. It runs around the side of the graph, so that it crosses no other edge and covers no
 * step.
 */
import { BaseEdge, type Edge, type EdgeProps } from "@xyflow/react";
import type { Direction } from "./graph-layout.ts";

export type BackEdge = Edge<{
  /**
   * Position of its outer segment in px: to the right of everything, or below everything if the graph runs left to
   * right.
   */
  lane: number;
  direction: Direction;
  /** Why it leads back, and how often it was taken; empty in a run that never took it. */
  label: string;
  /** Whether the run took this edge. */
  taken: boolean;
}>;

const CORNER = 10;

interface Point {
  x: number;
  y: number;
}

/** Path of the edge as for a graph from top to bottom. @param turn swaps x and y for a graph from left to right. */
function pathOf(from: Point, to: Point, lane: number, turn: (point: Point) => Point): string {
  const formatPoint = (x: number, y: number) => {
    const point = turn({ x, y });
    return `${point.x} ${point.y}`;
  };
  const up = to.y < from.y ? -1 : 1;
  return [
    `M ${formatPoint(from.x, from.y)} L ${formatPoint(lane - CORNER, from.y)}`,
    `Q ${formatPoint(lane, from.y)} ${formatPoint(lane, from.y + up * CORNER)}`,
    `L ${formatPoint(lane, to.y - up * CORNER)}`,
    `Q ${formatPoint(lane, to.y)} ${formatPoint(lane - CORNER, to.y)}`,
    `L ${formatPoint(to.x + 2, to.y)}`,
    `M ${formatPoint(to.x + 9, to.y - 5)} L ${formatPoint(to.x + 2, to.y)} L ${formatPoint(to.x + 9, to.y + 5)}`,
  ].join(" ");
}

export function BackEdgeLine({ id, sourceX, sourceY, targetX, targetY, data }: EdgeProps<BackEdge>) {
  const { lane, label, taken, direction } = data ?? { lane: 0, label: "", taken: false, direction: "TB" };
  const isDown = direction === "TB";
  const turn = ({ x, y }: Point): Point => (isDown ? { x, y } : { x: y, y: x });
  const [from, to] = [turn({ x: sourceX, y: sourceY }), turn({ x: targetX, y: targetY })];
  const middle = turn({ x: lane, y: (from.y + to.y) / 2 });
  return (
    <>
      <BaseEdge
        id={id}
        path={pathOf(from, to, lane, turn)}
        style={{ strokeDasharray: "4 4", stroke: taken ? "var(--wait)" : "var(--line-strong)" }}
      />
      {label && (
        <text
          x={middle.x + (isDown ? 6 : 0)}
          y={middle.y + (isDown ? 0 : 13)}
          textAnchor={isDown ? "start" : "middle"}
          dominantBaseline={isDown ? "middle" : "auto"}
          className="fill-dim text-xs"
        >
          {label}
        </text>
      )}
    </>
  );
}
