/**
 * The steps as a graph scaled to its space, each with who does it, its state, time and cost. The list of steps has the
 * same content in words.
 */

import { Controls, type Edge, Handle, type Node, type NodeProps, Position, ReactFlow } from "@xyflow/react";
import { useLayoutEffect, useMemo, useRef, useState } from "react";
import { useAgentNames } from "../../session/actor.tsx";
import { costText, formatDuration } from "../../ui/format.ts";
import { Status } from "../../ui/status.tsx";
import { useNow } from "../../ui/time.tsx";
import { type BackEdge, BackEdgeLine } from "./back-edge.tsx";
import { BOX_HEIGHT, chooseLayout, type Direction, type Layout, SMALLEST } from "./graph-layout.ts";
import { type Attempt, attemptsOf, type StepPlan, whoDoes } from "./steps.ts";

type StepNode = Node<{ step: StepPlan; rows: Attempt[]; current: boolean; direction: Direction; width: number }>;

/** Space in px for the lane of an edge that leads back, for a line of its label, and for a letter of it. */
const LANE = 22;
const LINE = 18;
const LETTER = 6.5;
const LETTERS_MAX = 24;

const forwardEdges = (steps: StepPlan[], known: ReadonlySet<string>): Edge[] =>
  steps.flatMap(({ id, needs }) =>
    needs.filter((need) => known.has(need)).map((need) => ({ id: `${need}>${id}`, source: need, target: id })),
  );

interface Way {
  id: string;
  to: string;
  label: string;
  taken: boolean;
}

/**
 * The edges that lead back to earlier steps. @param plain whether this is a pipeline, not a run: each edge then says
 * why it leads back.
 */
function waysBack(steps: StepPlan[], plain: boolean): Way[] {
  const known = new Set(steps.map(({ id }) => id));
  return steps
    .flatMap(({ id, leads_back }) => leads_back.map((way) => ({ id, ...way })))
    .filter(({ to }) => known.has(to))
    .map(({ id, to, why, times }) => {
      const short = why.length > LETTERS_MAX ? `${why.slice(0, LETTERS_MAX)}…` : why;
      return { id, to, label: plain ? short : times > 0 ? `${short} ×${times}` : "", taken: times > 0 };
    });
}

/** Width in px that lanes at the right side need. */
const sideOf = (ways: readonly Way[]): number =>
  ways.reduce((sum, { label }) => sum + LANE + label.length * LETTER, ways.length > 0 ? 16 : 0);

function backEdges(ways: readonly Way[], { direction, width, height }: Layout): BackEdge[] {
  let lane = direction === "TB" ? width : height;
  return ways.map(({ id, to, label, taken }, at) => {
    const place = lane + LANE;
    // The next lane runs beyond the label of this one.
    lane = place + (label === "" ? 0 : direction === "TB" ? label.length * LETTER : LINE);
    return {
      id: `${id}<${to}${at}`,
      type: "back",
      source: id,
      target: to,
      sourceHandle: "back-out",
      targetHandle: "back-in",
      data: { lane: place, label, taken, direction },
    };
  });
}

/** The total time that the attempts of a step worked, and their cost. */
function Figures({ rows }: { rows: Attempt[] }) {
  const running = rows.some(({ started_at, finished_at }) => started_at !== null && finished_at === null);
  const now = useNow(running);
  const took = rows.reduce((sum, { started_at, finished_at }) => {
    const from = started_at === null ? now : Date.parse(started_at);
    return sum + Math.max(0, (finished_at ? Date.parse(finished_at) : now) - from);
  }, 0);
  const cost_usd = rows.reduce((sum, row) => sum + row.cost_usd, 0);
  const calls_without_price = rows.reduce((sum, row) => sum + row.calls_without_price, 0);
  const isPaid = cost_usd > 0 || calls_without_price > 0;
  return (
    <span className="shrink-0 tabular-nums">
      {formatDuration(took)}
      {isPaid && ` · ${costText({ cost_usd, calls_without_price })}`}
      {rows.length > 1 && ` · ×${rows.length}`}
    </span>
  );
}

function StepBox({ data: { step, rows, current, direction, width } }: NodeProps<StepNode>) {
  const nameOf = useAgentNames();
  const isDown = direction === "TB";
  const side = isDown ? Position.Right : Position.Bottom;
  const begun = rows.filter(({ started_at }) => started_at !== null);
  return (
    <div
      style={{ width, height: BOX_HEIGHT }}
      className={`flex flex-col justify-center rounded-lg border bg-panel px-3 ${current ? "border-accent ring-2 ring-accent/30" : "border-line-strong"} ${step.status === "pending" || step.status === "skipped" ? "border-dashed" : ""}`}
    >
      <Handle
        type="target"
        position={isDown ? Position.Top : Position.Left}
        isConnectable={false}
        className="opacity-0"
      />
      <span className="flex items-center gap-2">
        <Status status={step.status} bare />
        <span className="line-clamp-1 text-sm font-medium">{step.name}</span>
      </span>
      <span className="flex gap-2 pl-[23px] text-xs text-dim">
        <span className="line-clamp-1 min-w-0 flex-1">
          {whoDoes(step, nameOf)}
          {step.children.total > 0 && ` ${step.children.done}/${step.children.total}`}
        </span>
        {begun.length > 0 && <Figures rows={begun} />}
      </span>
      <Handle
        type="source"
        position={isDown ? Position.Bottom : Position.Right}
        isConnectable={false}
        className="opacity-0"
      />
      {/* These come after the other handles, because edges without a handle id use the first one. */}
      <Handle id="back-in" type="target" position={side} isConnectable={false} className="opacity-0" />
      <Handle id="back-out" type="source" position={side} isConnectable={false} className="opacity-0" />
    </div>
  );
}

const nodeTypes = { step: StepBox };
const edgeTypes = { back: BackEdgeLine };

/** Space to the left and the right of the steps, in px. */
const EDGE = 8;
/** Greatest height of the graph in px. */
const MOST = 1_600;
const NONE: Attempt[] = [];

interface Props {
  steps: StepPlan[];
  /** The attempts of a run's steps; not set for a pipeline. */
  attempts?: Attempt[];
  current?: string | undefined;
  onPick?(step: string): void;
  /** Whether this is a pipeline, not a run: edges that lead back then say why. */
  plain?: boolean;
}

/** @returns a ref for the element to measure, and its width in px. */
function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const node = box.current;
    if (!node) return;
    const measureWidth = () => setWidth(Math.round(node.clientWidth));
    measureWidth();
    const watcher = new ResizeObserver(measureWidth);
    watcher.observe(node);
    return () => watcher.disconnect();
  }, []);
  return { box, width };
}

export default function RunGraph({ steps, attempts = NONE, current, onPick, plain = onPick === undefined }: Props) {
  const { box, width } = useWidth();
  const ways = waysBack(steps, plain);
  const side = sideOf(ways);
  const shape = JSON.stringify(steps.map(({ id, needs }) => [id, needs]));
  // biome-ignore lint/correctness/useExhaustiveDependencies: states change often, places only with the shape.
  const layout = useMemo(() => chooseLayout(steps, width - 2 * EDGE, side), [shape, width, side]);
  const { direction, places } = layout;
  const nodes: StepNode[] = steps.map((step) => {
    const { x, y } = places.get(step.id) ?? { x: 0, y: 0 };
    return {
      id: step.id,
      type: "step",
      position: { x: x - layout.box / 2, y: y - BOX_HEIGHT / 2 },
      data: { step, rows: attemptsOf(attempts, step.id), current: step.id === current, direction, width: layout.box },
      ariaLabel: `${step.name}, ${step.status}`,
    };
  });
  const known = new Set(steps.map(({ id }) => id));
  const isDown = direction === "TB";
  const below = isDown ? 0 : ways.reduce((sum, { label }) => sum + LANE + (label ? LINE : 0), 0);
  // Leave room for the row of buttons at the bottom, so that it covers no step.
  const fit = {
    maxZoom: 1,
    minZoom: SMALLEST,
    padding: { top: "20px", right: `${(isDown ? side : 0) + EDGE}px`, bottom: `${68 + below}px`, left: `${EDGE}px` },
  } as const;
  return (
    <div
      ref={box}
      className="overflow-hidden rounded-lg border border-line bg-sunken"
      style={{ height: Math.min(MOST, Math.max(200, layout.height + below + 100)) }}
    >
      {width > 0 && (
        <ReactFlow
          // The graph fits itself to its space only when it is created, so another shape or width creates it anew.
          key={`${shape} ${direction} ${Math.round(width / 40)}`}
          nodes={nodes}
          edges={[...forwardEdges(steps, known), ...backEdges(ways, layout)]}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          onNodeClick={(_, node) => onPick?.(node.id)}
          nodesDraggable={false}
          nodesConnectable={false}
          fitView
          fitViewOptions={fit}
          minZoom={0.2}
          preventScrolling={false}
          zoomOnScroll={false}
          proOptions={{ hideAttribution: true }}
        >
          <Controls showInteractive={false} orientation="horizontal" fitViewOptions={fit} />
        </ReactFlow>
      )}
    </div>
  );
}
