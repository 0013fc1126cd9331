/** The steps as a graph, top to bottom. The outline is the same as a list. */
import dagre from "@dagrejs/dagre";
import { Controls, type Edge, Handle, type Node, type NodeProps, Position, ReactFlow } from "@xyflow/react";
import { useMemo } from "react";
import { Status } from "../../ui/status.tsx";
import { type BackEdge, BackEdgeLine } from "./back-edge.tsx";
import { type StepPlan, whoDoes } from "./steps.ts";

const WIDTH = 190;
const HEIGHT = 58;

type StepNode = Node<{ step: StepPlan; current: boolean }>;

function layout(steps: StepPlan[]): Map<string, { x: number; y: number }> {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 28, ranksep: 42 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of steps) graph.setNode(id, { width: WIDTH, height: HEIGHT });
  for (const { id, needs } of steps) for (const need of needs) graph.setEdge(need, id);
  dagre.layout(graph);
  return new Map(steps.map(({ id }) => [id, graph.node(id)]));
}

/** Room for a lane of an edge that leads back, px, and for a letter of the words beside it. */
const LANE = 22;
const LETTER = 6.5;
const LETTERS_MAX = 24;

type Places = Map<string, { x: number; y: number }>;

const forwardEdges = (steps: StepPlan[], known: ReadonlySet<string>): Edge[] =>
  steps.flatMap(({ id, needs }) =>
    needs.filter((need) => known.has(need)).map((need) => ({ id: `${need}>${id}`, source: need, target: id })),
  );

/** @param plain a pipeline rather than a run: it says why each leads back. */
function backEdges(steps: StepPlan[], places: Places, plain: boolean): BackEdge[] {
  const right = Math.max(0, ...[...places.values()].map(({ x }) => x + WIDTH / 2));
  const known = new Set(steps.map(({ id }) => id));
  let lane = right;
  return steps
    .flatMap(({ id, leads_back }) => leads_back.map((way) => ({ id, ...way })))
    .filter(({ to }) => known.has(to))
    .map(({ id, to, why, times }, at) => {
      const short = why.length > LETTERS_MAX ? `${why.slice(0, LETTERS_MAX)}…` : why;
      const label = plain ? short : times > 0 ? `${short} ×${times}` : "";
      const x = lane + LANE;
      // The next one runs beyond the words of this.
      lane = x + (label ? label.length * LETTER : 0);
      return {
        ...{ id: `${id}<${to}${at}`, type: "back", source: id, target: to },
        ...{ sourceHandle: "back-out", targetHandle: "back-in" },
        data: { lane: x, label, taken: times > 0 },
      };
    });
}

function StepBox({ data: { step, current } }: NodeProps<StepNode>) {
  return (
    <div
      className={`flex h-[58px] w-[190px] flex-col justify-center rounded-lg border bg-panel px-3 ${current ? "border-accent ring-2 ring-accent/30" : "border-line-strong"}`}
    >
      <Handle type="target" position={Position.Top} isConnectable={false} className="opacity-0" />
      <span className="flex items-center gap-2">
        <Status status={step.status} bare />
        <span className="line-clamp-1 text-sm font-medium">{step.name}</span>
      </span>
      <span className="line-clamp-1 pl-[23px] text-xs text-dim">
        {whoDoes(step)}
        {step.children.total > 0 && ` · ${step.children.done}/${step.children.total}`}
      </span>
      <Handle type="source" position={Position.Bottom} isConnectable={false} className="opacity-0" />
      {/* After those of the other edges, which take the first. */}
      <Handle id="back-in" type="target" position={Position.Right} isConnectable={false} className="opacity-0" />
      <Handle id="back-out" type="source" position={Position.Right} isConnectable={false} className="opacity-0" />
    </div>
  );
}

const nodeTypes = { step: StepBox };
const edgeTypes = { back: BackEdgeLine };

/** Its smallest letters are 12 px: below 11 they cannot be read. What does not fit is moved into sight. */
const SMALLEST = 0.92;
/** Height of the graph, px; the page scrolls, the graph does not shrink. */
const MOST = 1_600;
/** Height of a row of steps with the gap below it, px. */
const ROW = HEIGHT + 42;

export default function RunGraph({
  steps,
  current,
  onPick,
}: {
  steps: StepPlan[];
  current?: string;
  onPick?(step: string): void;
}) {
  const shape = JSON.stringify(steps.map(({ id, needs }) => [id, needs]));
  // biome-ignore lint/correctness/useExhaustiveDependencies: states change often, places only with the shape.
  const places: Places = useMemo(() => layout(steps), [shape]);
  const nodes: StepNode[] = steps.map((step) => {
    const { x, y } = places.get(step.id) ?? { x: 0, y: 0 };
    return {
      ...{ id: step.id, type: "step", position: { x: x - WIDTH / 2, y: y - HEIGHT / 2 } },
      data: { step, current: step.id === current },
      ariaLabel: `${step.name}, ${step.status}`,
    };
  });
  const known = new Set(steps.map(({ id }) => id));
  const back = backEdges(steps, places, onPick === undefined);
  const side = 16 + back.reduce((sum, { data }) => sum + LANE + (data?.label.length ?? 0) * LETTER, 0);
  // The row of buttons at the bottom lies over no step.
  const fit = {
    ...{ maxZoom: 1, minZoom: SMALLEST },
    padding: { top: "20px", right: `${side}px`, bottom: "68px", left: "16px" },
  } as const;
  const rows = new Set([...places.values()].map(({ y }) => y)).size;
  return (
    <div
      className="overflow-hidden rounded-lg border border-line bg-sunken"
      style={{ height: Math.min(MOST, Math.max(220, rows * ROW + 100)) }}
    >
      <ReactFlow
        nodes={nodes}
        edges={[...forwardEdges(steps, known), ...back]}
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
    </div>
  );
}
