/**
 * Draws a symbol between what depends on it (left) and what it depends on (right). Each symbol can be opened to show
 * one step more. The lists below have the same content as text.
 */
import { useQueries } from "@tanstack/react-query";
import { Minus, Plus } from "lucide-react";
import { useLayoutEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { IconButton } from "../../ui/button.tsx";
import { Loading } from "../../ui/note.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { buildNeighbourhood, columnsQuery, type Line, type Neighbour } from "./columns.ts";
import { useSymbolHref } from "./symbol-link.tsx";

/** Size of a box in px, and distance from one box to the next. */
const BOX = { width: 196, height: 42 };
const STEP = { x: 268, y: 50 };
const MARGIN = 12;
/** How many symbols each step asks for, half of them in each direction. */
const SHOWN = 25;

interface Place {
  x: number;
  y: number;
}

function placesOf(columns: Neighbour[][]): { places: Map<string, Place>; width: number; height: number } {
  const most = Math.max(1, ...columns.map((column) => column.length));
  const height = most * STEP.y - (STEP.y - BOX.height) + 2 * MARGIN;
  const places = new Map<string, Place>();
  columns.forEach((column, at) => {
    const top = (height - (column.length * STEP.y - (STEP.y - BOX.height))) / 2;
    column.forEach(({ id }, row) => {
      places.set(id, { x: MARGIN + at * STEP.x, y: top + row * STEP.y });
    });
  });
  return { places, height, width: (columns.length - 1) * STEP.x + BOX.width + 2 * MARGIN };
}

const TONE: Record<string, string> = {
  CALLS: "stroke-line-strong",
  EXTENDS: "stroke-accent",
  IMPLEMENTS: "stroke-accent",
};

function Path({ line, places, near }: { line: Line; places: ReadonlyMap<string, Place>; near: boolean }) {
  const [from, to] = [places.get(line.from), places.get(line.to)];
  if (!from || !to) return null;
  // A line leaves from the side that faces the other box, even if the call goes from right to left.
  const ahead = from.x < to.x;
  const [x1, x2] = [from.x + (ahead ? BOX.width : 0), to.x + (ahead ? 0 : BOX.width)];
  const [y1, y2] = [from.y + BOX.height / 2, to.y + BOX.height / 2];
  const bend = (x2 - x1) / 2;
  return (
    <path
      d={`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`}
      className={`fill-none ${near ? "stroke-accent" : (TONE[line.type] ?? "stroke-line")}`}
      strokeWidth={near ? 2 : 1.25}
      strokeDasharray={line.sure ? undefined : "4 4"}
    />
  );
}

export function Neighbourhood({ project, focus }: { project: string; focus: string }) {
  const [opened, setOpened] = useState<string[]>([focus]);
  const [pointed, setPointed] = useState("");
  const box = useRef<HTMLElement>(null);
  const asked = useQueries({
    queries: opened.map((id) => ({ ...columnsQuery(project, { focus: id, limit: SHOWN }), staleTime: 60_000 })),
  });
  const { columns, lines, truncated } = buildNeighbourhood(
    opened,
    asked.map(({ data }) => data),
  );
  const { places, width, height } = placesOf(columns);
  const middle = places.get(opened.at(-1) ?? focus)?.x;
  // Scrolls to the symbol that was opened last, even if a step to the left moves everything.
  useLayoutEffect(() => {
    const view = box.current;
    if (view && middle !== undefined) view.scrollLeft = middle + BOX.width / 2 - view.clientWidth / 2;
  }, [middle]);
  const error = asked.find((one) => one.error)?.error;
  if (error) return <ProblemNote error={error} />;
  if (columns.length === 0) return <Loading rows={5} />;
  const toggle = (id: string) =>
    setOpened((old) => (old.includes(id) ? old.filter((one) => one !== id) : [...old, id]));
  return (
    <figure className="mb-4">
      <section
        ref={box}
        aria-label="Neighbourhood of the symbol"
        tabIndex={0}
        className="max-h-[34rem] overflow-auto rounded-lg border border-line bg-sunken"
      >
        <div className="relative mx-auto" style={{ width, height }}>
          <svg aria-hidden width={width} height={height} className="absolute inset-0">
            {lines.map((line) => (
              <Path
                key={`${line.from} ${line.to}`}
                line={line}
                places={places}
                near={line.from === pointed || line.to === pointed}
              />
            ))}
          </svg>
          {columns.flat().map((one) => (
            <Box key={one.id} one={one} place={places.get(one.id)!} toggle={toggle} point={setPointed} />
          ))}
        </div>
      </section>
      <figcaption className="mt-1 text-sm text-dim">
        Left: what depends on it. Right: what it depends on. A broken line is a guess
        {truncated && "; the most connected are drawn, the lists below have all"}.
      </figcaption>
    </figure>
  );
}

interface BoxProps {
  one: Neighbour;
  place: Place;
  toggle(id: string): void;
  point(id: string): void;
}

function Box({ one: { id, name, label, file, line, hop, open }, place, toggle, point }: BoxProps) {
  const hrefOf = useSymbolHref();
  const about = `${label}, ${file}:${line}`;
  const more = (
    <IconButton
      label={open ? `Close ${name}` : `Open ${name}`}
      aria-expanded={open}
      onClick={() => toggle(id)}
      className="size-7! shrink-0 max-sm:size-9!"
      icon={open ? Minus : Plus}
      iconSize={13}
    />
  );
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: pointing only brings out lines that the lists name as well.
    <div
      onPointerEnter={() => point(id)}
      onPointerLeave={() => point("")}
      onFocus={() => point(id)}
      className={`absolute flex items-center rounded-md border bg-panel ${hop === 0 ? "border-accent ring-2 ring-accent/30" : "border-line-strong"}`}
      style={{ left: place.x, top: place.y, width: BOX.width, height: BOX.height }}
    >
      {hop < 0 && more}
      <Link
        href={hrefOf(id)}
        data-row
        title={about}
        aria-current={hop === 0 ? "true" : undefined}
        className={`min-w-0 flex-1 py-1 ${hop < 0 ? "pr-2" : hop > 0 ? "pl-2" : "px-2"}`}
      >
        <span className="block truncate font-mono text-xs font-medium">{name}</span>
        <span className="block truncate text-xs text-dim">
          {label} · {file.split("/").at(-1)}
        </span>
      </Link>
      {hop > 0 && more}
    </div>
  );
}
