/** An edge that leads back to an earlier step: around the side of the graph, so that it crosses no other and covers no step. */
import { BaseEdge, type Edge, type EdgeProps } from "@xyflow/react";

export type BackEdge = Edge<{
  /** Where it runs, px to the right of everything. */
  lane: number;
  /** Why it leads back, and how often it did; empty in a run that never took it. */
  label: string;
  /** Whether the run went this way. */
  taken: boolean;
}>;

const CORNER = 10;

export function BackEdgeLine({ id, sourceX, sourceY, targetX, targetY, data }: EdgeProps<BackEdge>) {
  const { lane, label, taken } = data ?? { lane: 0, label: "", taken: false };
  const up = targetY < sourceY ? -1 : 1;
  const path = [
    `M ${sourceX} ${sourceY} H ${lane - CORNER}`,
    `Q ${lane} ${sourceY} ${lane} ${sourceY + up * CORNER}`,
    `V ${targetY - up * CORNER}`,
    `Q ${lane} ${targetY} ${lane - CORNER} ${targetY}`,
    `H ${targetX + 2}`,
  ].join(" ");
  const stroke = taken ? "var(--wait)" : "var(--line-strong)";
  return (
    <>
      <BaseEdge id={id} path={path} style={{ strokeDasharray: "4 4", stroke }} />
      <path d={`M ${targetX + 9} ${targetY - 5} l -7 5 l 7 5`} fill="none" stroke={stroke} />
      {label && (
        <text x={lane + 6} y={(sourceY + targetY) / 2} dominantBaseline="middle" className="fill-dim text-xs">
          {label}
        </text>
      )}
    </>
  );
}
