/** Searches symbols by words or by name. */
import { api } from "../../api/client.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { NoMatch, SearchInput } from "../../ui/filter.tsx";
import { Await, Empty } from "../../ui/note.tsx";
import { Panel } from "../../ui/page.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { SymbolLink } from "./symbol-link.tsx";

export function Search({ project }: { project: string }) {
  const [text, setText] = useParam("q");
  const [symbol] = useParam("symbol");
  const query = api.useQuery(
    "post",
    "/v1/projects/{id}/knowledge-graph/query",
    { params: { path: { id: project } }, body: { query: text, limit: 30 } },
    { enabled: text !== "" },
  );
  return (
    <div className="mb-4">
      <div className="mb-2 flex">
        <SearchInput label="A name, or what it does" value={text} onChange={setText} />
      </div>
      {text === "" && !symbol && (
        <Empty action={<ButtonLink href="?tab=map">See the map</ButtonLink>} cli='skep graph query . "…"'>
          Search for a function, a class or what it does; then go from symbol to symbol.
        </Empty>
      )}
      {text !== "" && (
        <Await query={query} rows={4}>
          {({ items }) =>
            items.length === 0 ? (
              <NoMatch clear={["q"]} word="Clear the search">
                Nothing is called or described like that. Try fewer or other words.
              </NoMatch>
            ) : (
              <Panel className="max-h-80 overflow-y-auto p-1">
                <ul aria-label="Found symbols">
                  {items.map(({ symbol: found, community }) => (
                    <li key={found.id}>
                      <SymbolLink symbol={found} detail={community?.label} />
                    </li>
                  ))}
                </ul>
              </Panel>
            )
          }
        </Await>
      )}
    </div>
  );
}
