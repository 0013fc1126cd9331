/** Documents: they are uploaded, processed in the background, and searched. */

import { Captions, FileUp } from "lucide-react";
import { Link } from "wouter";
import { api, type Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { List } from "../../kit/list.tsx";
import { Button } from "../../ui/button.tsx";
import { FilterBar, NoMatch, SearchInput } from "../../ui/filter.tsx";
import { formatBytes, pluralize, shellWord } from "../../ui/format.ts";
import { Await } from "../../ui/note.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { plainText } from "../../ui/plain-text.ts";
import { Status } from "../../ui/status.tsx";
import { type Column, nameColumn } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { AddDocument, AddTranscript } from "./add-document.tsx";

type Doc = Schemas["Document"];

/** Maps a document's status to one that the dashboard can show. */
export const documentStatus = ({ status }: Pick<Doc, "status">): string =>
  status === "processing" ? "working" : status;

const COLUMNS: Column<Doc>[] = [
  nameColumn("Document", "w-1/2 min-w-40", ({ title, source, error }) => [title, error ?? source]),
  { title: "State", cell: (document) => <Status status={documentStatus(document)} /> },
  { title: "Sections", wide: true, align: "right", cell: ({ sections }) => sections },
  { title: "Size", wide: true, align: "right", cell: ({ size_bytes }) => formatBytes(size_bytes) },
  { title: "Added", align: "right", cell: ({ created_at }) => <Ago at={created_at} /> },
];

export default function DocumentsPage() {
  const [q, setQ] = useParam("q");
  const [fresh, setFresh] = useParam("new");
  const query = usePages("/v1/documents", { query: { limit: 50 } });
  const add = (kind: "primary" | "plain") => (
    <Button label="Add a document" kind={kind} icon={FileUp} iconSize={15} onClick={() => setFresh("1")} />
  );
  return (
    <>
      <PageHeader
        title="Documents"
        about="Manuals, papers and notes that agents look things up in. Yours alone, or a project's."
        cli={q ? `skep documents search ${shellWord(q)}` : "skep documents"}
        actions={
          <>
            <Button label="Add a transcript" icon={Captions} iconSize={15} onClick={() => setFresh("transcript")} />
            {add("primary")}
          </>
        }
      />
      <FilterBar>
        <SearchInput label="Search in documents" value={q} onChange={setQ} />
      </FilterBar>
      {q ? (
        <Hits q={q} />
      ) : (
        <List
          query={query}
          label="Documents"
          columns={COLUMNS}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => `/documents/${id}`}
          lines={5}
          empty={{
            text: "There is no document yet. Agents search documents and read them section by section.",
            action: add("plain"),
            cli: "skep documents add FILE",
          }}
        />
      )}
      {fresh === "1" && <AddDocument onClose={() => setFresh("")} />}
      {fresh === "transcript" && <AddTranscript onClose={() => setFresh("")} />}
    </>
  );
}

/** The best matching paragraphs, one per section. */
export function Hits({ q, document }: { q: string; document?: string }) {
  const query = api.useQuery("get", "/v1/documents/search", {
    params: { query: { query: q, limit: 30, ...(document ? { document_id: document } : {}) } },
  });
  return (
    <Await query={query} rows={4}>
      {({ items }) =>
        items.length === 0 ? (
          <NoMatch clear={["q"]} word="Clear the search">
            {document
              ? "This document has none of these words."
              : "No document has these words. Try fewer or other ones."}
          </NoMatch>
        ) : (
          <>
            <p role="status" className="mb-2 text-sm text-dim">
              {pluralize(items.length, "section")}, best first
            </p>
            <ol aria-label="Found" className="overflow-hidden rounded-lg border border-line bg-panel">
              {items.map(({ document_id, section_id, title, heading, page, snippet }) => (
                <li key={`${document_id}/${section_id}`} className="border-b border-line last:border-0">
                  <Link
                    href={`/documents/${document_id}?section=${encodeURIComponent(section_id)}`}
                    data-row
                    className="block px-3 py-2 hover:bg-hover"
                  >
                    <span className="font-medium">{heading || title}</span>
                    <span className="text-sm text-dim">
                      {" "}
                      {title}
                      {page !== null && `, page ${page}`}
                    </span>
                    <span className="line-clamp-3 break-words text-sm text-dim">{plainText(snippet)}</span>
                  </Link>
                </li>
              ))}
            </ol>
          </>
        )
      }
    </Await>
  );
}
