/** The code graph of a project. It starts with a search rather than with the whole graph. */
import { useParams } from "wouter";
import { api, type Schemas } from "../../api/client.ts";
import { lazy } from "../../ui/lazy.tsx";
import { Await, Loading } from "../../ui/note.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { useParam, Views } from "../../ui/tabs.tsx";
import { Ask } from "./ask.tsx";
import { Changes } from "./changes.tsx";
import { Clusters, Flows } from "./clusters.tsx";
import { IndexState } from "./index-state.tsx";
import { NoSymbols } from "./no-symbols.tsx";
import { Search } from "./search.tsx";
import { SymbolView } from "./symbol-view.tsx";

const MapTab = lazy(() => import("./map.tsx"), <Loading rows={8} />);

export type GraphSymbol = Schemas["QueryProjectGraphAnswer"]["items"][number]["symbol"];

export default function GraphPage() {
  const { id = "" } = useParams<{ id: string }>();
  const project = api.useQuery("get", "/v1/projects/{id}", { params: { path: { id } } });
  const status = api.useQuery("get", "/v1/projects/{id}/knowledge-graph/status", { params: { path: { id } } });
  const [symbol] = useParam("symbol");
  const query = {
    ...status,
    error: project.error ?? status.error,
    refetch: () => Promise.all([project.refetch(), status.refetch()]),
  };
  return (
    <>
      <PageHeader
        title="Code graph"
        crumbs={[[`/projects/${id}`, project.data?.name ?? "Project"]]}
        cli='skep graph query . "…"'
      />
      <Await query={query} rows={2} list={["/projects", "Projects"]}>
        {(state) => (
          <>
            <IndexState project={id} status={state} />
            {state.nodes === 0 ? (
              state.state !== "indexing" && <NoSymbols isIndexed={state.indexed_at !== undefined} />
            ) : (
              <Views
                label="Views of the graph"
                views={[
                  {
                    id: "symbols",
                    title: "Symbols",
                    view: (
                      <>
                        <Search project={id} />
                        {symbol && <SymbolView key={symbol} project={id} symbol={symbol} />}
                      </>
                    ),
                  },
                  {
                    id: "map",
                    title: "Map",
                    view: <MapTab project={id} />,
                  },
                  { id: "changes", title: "Changes", view: <Changes project={id} /> },
                  { id: "clusters", title: "Clusters", count: state.communities, view: <Clusters project={id} /> },
                  { id: "flows", title: "Flows", count: state.processes, view: <Flows project={id} /> },
                  { id: "ask", title: "Ask", view: <Ask project={id} /> },
                ]}
              />
            )}
          </>
        )}
      </Await>
    </>
  );
}
