/** The steps as a graph, top to bottom. The outline is the same as a list. */
import dagre from "@dagrejs/dagre";
import { Controls, type Edge, Handle, type Node, type NodeProps, Position, ReactFlow } from "@xyflow/react";
import { useMemo } from "react";
import { Status } from "../../ui/status.tsx";
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

function edgesOf(steps: StepPlan[]): Edge[] {
  const known = new Set(steps.map(({ id }) => id));
  const forward = steps.flatMap(({ id, needs }) =>
    needs.filter((need) => known.has(need)).map((need) => ({ id: `${need}>${id}`, source: need, target: id })),
  );
  const back = steps.flatMap(({ id, leads_back }) =>
    leads_back
      .filter(({ to }) => known.has(to))
      .map(({ to, why }, at) => ({
        ...{ id: `${id}<${to}${at}`, source: id, target: to, label: why, animated: true },
        style: { strokeDasharray: "4 4" },
      })),
  );
  return [...forward, ...back];
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
    </div>
  );
}

const nodeTypes = { step: StepBox };

/** The row of buttons at the bottom lies over no step. */
const FIT = { maxZoom: 1, padding: { top: "20px", right: "16px", bottom: "68px", left: "16px" } } as const;

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
  const places = useMemo(() => layout(steps), [shape]);
  const nodes: StepNode[] = steps.map((step) => {
    const { x, y } = places.get(step.id) ?? { x: 0, y: 0 };
    return {
      ...{ id: step.id, type: "step", position: { x: x - WIDTH / 2, y: y - HEIGHT / 2 } },
      data: { step, current: step.id === current },
      ariaLabel: `${step.name}, ${step.status}`,
    };
  });
  const rows = new Set([...places.values()].map(({ y }) => y)).size;
  return (
    <div
      className="overflow-hidden rounded-lg border border-line bg-sunken"
      style={{ height: Math.min(620, Math.max(220, rows * 100 + 100)) }}
    >
      <ReactFlow
        nodes={nodes}
        edges={edgesOf(steps)}
        nodeTypes={nodeTypes}
        onNodeClick={(_, node) => onPick?.(node.id)}
        nodesDraggable={false}
        nodesConnectable={false}
        fitView
        fitViewOptions={FIT}
        minZoom={0.2}
        preventScrolling={false}
        zoomOnScroll={false}
        proOptions={{ hideAttribution: true }}
      >
        <Controls showInteractive={false} orientation="horizontal" fitViewOptions={FIT} />
      </ReactFlow>
    </div>
  );
}
