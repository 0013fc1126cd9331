/**
 * The whole project at a glance: clusters that unfold into their most connected symbols. The list beside the map has
 * the same content.
 */
import { useQuery } from "@tanstack/react-query";
import { Maximize, ZoomIn, ZoomOut } from "lucide-react";
import { type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { api } from "../../api/client.ts";
import { Button, ButtonLink, IconButton } from "../../ui/button.tsx";
import { SearchInput } from "../../ui/filter.tsx";
import { count, pluralize } from "../../ui/format.ts";
import { Await, Empty } from "../../ui/note.tsx";
import { Panel } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { type Columns, columnsQuery } from "./columns.ts";
import { createMapView, type MapView } from "./map-canvas.ts";
import { SymbolLink, useSymbolHref } from "./symbol-link.tsx";

const MOST = 2_000;

export default function MapTab({ project }: { project: string }) {
  const query = useQuery({ ...columnsQuery(project, { limit: MOST }), staleTime: 60_000 });
  return (
    <Await query={query} rows={8}>
      {(map) =>
        map.communities.id.length === 0 ? (
          <Empty
            action={<ButtonLink href={`/projects/${project}/graph`}>Search the symbols</ButtonLink>}
            cli="skep graph status"
          >
            The index found no symbol, so there is nothing to draw. Check that it reads the project's languages.
          </Empty>
        ) : (
          <MapWithList project={project} map={map} />
        )
      }
    </Await>
  );
}

/** The symbols in files that a run changed, for the map. Null if the address names no run. */
function useChanged(map: Columns) {
  const [run] = useParam("run");
  const params = { path: { id: run } };
  const about = api.useQuery("get", "/v1/runs/{id}", { params }, { enabled: run !== "" });
  const files = api.useQuery("get", "/v1/runs/{id}/diff/files", { params }, { enabled: run !== "" });
  const changed = useMemo(() => {
    if (!files.data) return null;
    const paths = new Set(files.data.items.map(({ path }) => path));
    return new Set([...map.nodes.id.keys()].filter((at) => paths.has(map.files[map.nodes.file[at]!] ?? "")));
  }, [files.data, map]);
  return { run, changed, task: about.data?.task_description, files: files.data?.stats.files, error: files.error };
}

function MapWithList({ map }: { project: string; map: Columns }) {
  const { run, changed, task, files, error } = useChanged(map);
  const [, setRun] = useParam("run");
  const [text, setText] = useParam("find");
  const [chosen, choose] = useParam("cluster");
  const cluster = map.communities.id.indexOf(chosen);
  const marked = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const nodes = map.nodes.name.flatMap((name, at) => {
      const whole = `${name} ${map.files[map.nodes.file[at]!] ?? ""}`.toLowerCase();
      return words.length > 0 && words.every((word) => whole.includes(word)) ? [at] : [];
    });
    return new Set(nodes);
  }, [map, text]);
  return (
    <>
      <div className="mb-2 flex flex-wrap items-center gap-3">
        <SearchInput label="Find on the map" value={text} onChange={setText} />
        <p className="text-sm text-dim">
          {count(map.nodes.id.length)} of {pluralize(map.total, "symbol")} in{" "}
          {pluralize(map.communities.id.filter((id) => id !== "none").length, "cluster")}
          {text && `, ${pluralize(marked.size, "match", "matches")}`}
        </p>
      </div>
      {run && (
        <div className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
          <span aria-hidden className="size-3 rounded-xs" style={{ background: "var(--series-1)" }} />
          <p className="min-w-0 flex-1">
            {changed
              ? `${pluralize(changed.size, "symbol")} in ${pluralize(files ?? 0, "changed file")} of `
              : "Changes of "}
            <Link href={`/runs/${run}?tab=changes`} className="font-medium hover:underline">
              {task?.split("\n")[0] ?? "a run"}
            </Link>
          </p>
          <Button label="All colors" kind="quiet" onClick={() => setRun("")} />
          <ProblemNote error={error} />
        </div>
      )}
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3 lg:grid-cols-[minmax(0,1fr)_18rem]">
        <Drawing
          map={map}
          cluster={cluster}
          marked={marked}
          changed={changed}
          choose={(at) => choose(map.communities.id[at] ?? "")}
        />
        <List map={map} cluster={cluster} marked={marked.size > 0 ? marked : (changed ?? marked)} choose={choose} />
      </div>
    </>
  );
}

interface DrawingProps {
  map: Columns;
  cluster: number;
  marked: ReadonlySet<number>;
  changed: ReadonlySet<number> | null;
  choose(cluster: number): void;
}

/** How many px the pointer may move between press and release for a click. */
const CLICK = 5;

function Drawing({ map, cluster, marked, changed, choose }: DrawingProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const view = useRef<MapView | null>(null);
  const press = useRef<{ x: number; y: number; moved: number } | null>(null);
  const [under, setUnder] = useState("");
  const [, navigate] = useLocation();
  const hrefOf = useSymbolHref();
  useEffect(() => {
    const made = createMapView(canvas.current!, map);
    view.current = made;
    made.fit();
    const sized = new ResizeObserver(() => made.draw());
    sized.observe(canvas.current!);
    const themed = new MutationObserver(() => made.draw());
    themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      sized.disconnect();
      themed.disconnect();
    };
  }, [map]);
  useEffect(() => view.current?.mark(marked), [marked]);
  useEffect(() => view.current?.color(changed), [changed]);
  useEffect(() => {
    if (cluster >= 0) view.current?.show(cluster);
    else view.current?.fit();
  }, [cluster]);
  const findAt = (event: PointerEvent) => {
    const { left, top } = canvas.current!.getBoundingClientRect();
    return view.current?.at(event.clientX - left, event.clientY - top) ?? {};
  };
  const move = (event: PointerEvent) => {
    if (press.current) {
      const [x, y] = [event.clientX - press.current.x, event.clientY - press.current.y];
      press.current = { x: event.clientX, y: event.clientY, moved: press.current.moved + Math.hypot(x, y) };
      if (press.current.moved > CLICK) view.current?.pan(x, y);
      return;
    }
    const { node, cluster: disc } = findAt(event);
    const name = node === undefined ? undefined : `${map.nodes.name[node]}, ${map.files[map.nodes.file[node]!] ?? ""}`;
    setUnder(name ?? (disc === undefined ? "" : map.communities.label[disc]!));
  };
  const release = (event: PointerEvent) => {
    const wasClick = press.current !== null && press.current.moved <= CLICK;
    press.current = null;
    if (!wasClick) return;
    const { node, cluster: disc } = findAt(event);
    if (node !== undefined) return navigate(hrefOf(map.nodes.id[node]!));
    if (disc !== undefined) choose(disc);
  };
  return (
    <div className="relative overflow-hidden rounded-lg border border-line bg-panel">
      <canvas
        ref={canvas}
        role="img"
        aria-label="Map of the code's clusters; the list beside it has the same"
        className="block h-[34rem] w-full touch-none max-sm:h-[55dvh]"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          press.current = { x: event.clientX, y: event.clientY, moved: 0 };
        }}
        onPointerMove={move}
        onPointerUp={release}
        onPointerLeave={() => setUnder("")}
        onPointerCancel={() => {
          press.current = null;
        }}
      />
      <div className="absolute right-2 bottom-2 flex rounded-md border border-line bg-panel">
        <IconButton label="Closer" onClick={() => view.current?.zoom(1.5)} icon={ZoomIn} iconSize={15} />
        <IconButton label="Farther" onClick={() => view.current?.zoom(1 / 1.5)} icon={ZoomOut} iconSize={15} />
        <IconButton
          label="Show all"
          onClick={() => {
            choose(-1);
            view.current?.fit();
          }}
          icon={Maximize}
          iconSize={15}
        />
      </div>
      {under && (
        <p
          aria-hidden
          className="pointer-events-none absolute bottom-2 left-2 max-w-[60%] truncate rounded bg-hover px-2 py-0.5 text-xs"
        >
          {under}
        </p>
      )}
    </div>
  );
}

/** Most rows in the list at once. */
const ROWS = 100;

interface ListProps {
  map: Columns;
  cluster: number;
  marked: ReadonlySet<number>;
  choose(id: string): void;
}

function List({ map, cluster, marked, choose }: ListProps) {
  const { communities, nodes } = map;
  const shown = [...nodes.id.keys()].filter((at) =>
    marked.size > 0 ? marked.has(at) : cluster >= 0 && nodes.community[at] === cluster,
  );
  return (
    <Panel className="max-h-[34rem] overflow-y-auto p-1">
      {cluster >= 0 && (
        <button
          type="button"
          onClick={() => choose("")}
          className="mb-1 w-full rounded-md px-2 py-1 text-left text-sm text-dim hover:bg-hover max-sm:min-h-11"
        >
          ← All clusters
        </button>
      )}
      {shown.length > 0 ? (
        <ul aria-label={marked.size > 0 ? "Matches" : communities.label[cluster]}>
          {shown.slice(0, ROWS).map((at) => (
            <li key={nodes.id[at]}>
              <SymbolLink
                symbol={{
                  id: nodes.id[at]!,
                  name: nodes.name[at]!,
                  start_line: nodes.line[at]!,
                  label: map.labels[nodes.label[at]!] as never,
                  file_path: map.files[nodes.file[at]!] ?? "",
                }}
              />
            </li>
          ))}
          {shown.length > ROWS && <li className="px-2 py-1 text-sm text-dim">{shown.length - ROWS} more on the map</li>}
        </ul>
      ) : (
        <ul aria-label="Clusters">
          {communities.id.map((id, at) => (
            <li key={id}>
              <button
                type="button"
                data-row
                onClick={() => choose(id)}
                className="flex min-h-8 w-full items-baseline justify-between gap-2 rounded-md px-2 py-1 text-left text-sm hover:bg-hover max-sm:min-h-11"
              >
                <span className="line-clamp-1">{communities.label[at]}</span>
                <span className="shrink-0 text-xs text-faint">
                  {pluralize(communities.symbol_count[at]!, "symbol")}
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
