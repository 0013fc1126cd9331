/** One document: its outline beside the section that is being read. */

import { ChevronLeft, ChevronRight, Trash2 } from "lucide-react";
import { useState } from "react";
import { Link, useParams } from "wouter";
import { api, client, type Schemas } from "../../api/client.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { DetailPage } from "../../kit/detail-page.tsx";
import { Button } from "../../ui/button.tsx";
import { FactRow } from "../../ui/facts.tsx";
import { FilterBar, SearchInput } from "../../ui/filter.tsx";
import { count, formatBytes } from "../../ui/format.ts";
import { JobProgress } from "../../ui/job-progress.tsx";
import { MarkdownText } from "../../ui/markdown-text.tsx";
import { Await, Empty, Warning } from "../../ui/note.tsx";
import { Panel, Section } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { documentStatus, Hits } from "../documents/documents-page.tsx";
import { Fold } from "../run/step-detail.tsx";
import { Transcript } from "../run/transcript.tsx";

type Doc = Schemas["Document"];
interface Entry {
  title: string;
  level: number;
  page: number | null;
  section_id: string;
  children?: Entry[];
}

export default function DocumentPage() {
  const { id = "" } = useParams<{ id: string }>();
  const query = api.useQuery("get", "/v1/documents/{id}", { params: { path: { id } } });
  const [deleting, setDeleting] = useState(false);
  return (
    <DetailPage
      query={query}
      kind="Document"
      list={["/documents", "Documents"]}
      head={(document) => ({
        title: document.title,
        crumbs: [["/documents", "Documents"]],
        beside: <Status status={documentStatus(document)} />,
        cli: `skep documents toc ${id}`,
        actions: <Button label="Delete" kind="danger" icon={Trash2} onClick={() => setDeleting(true)} />,
      })}
    >
      {(document) => (
        <>
          <DocumentView document={document} />
          {deleting && <DeleteDocument document={document} onClose={() => setDeleting(false)} />}
        </>
      )}
    </DetailPage>
  );
}

function DeleteDocument({ document: { id, title }, onClose }: { document: Doc; onClose(): void }) {
  return (
    <Confirm
      title={`Delete ${title}?`}
      word="Delete the document"
      onClose={onClose}
      changes={["/v1/documents"]}
      act={() => client.DELETE("/v1/documents/{id}", { params: { path: { id } } })}
      leaveTo="/documents"
    >
      Agents no longer find anything in it.
    </Confirm>
  );
}

function DocumentView({ document }: { document: Doc }) {
  const [q, setQ] = useParam("q");
  const { id, status, error } = document;
  return (
    <>
      {error && <Warning>{error}</Warning>}
      <FactRow
        facts={[
          ["File", document.source],
          ["Size", formatBytes(document.size_bytes)],
          document.pages === null ? null : ["Pages", document.pages],
          ["Sections", document.sections],
          ["Tokens, about", count(document.tokens)],
          ["Read by", document.project_id ? "all of its project" : "you alone"],
        ]}
      />
      {status === "processing" &&
        (document.job_id ? (
          <JobProgress id={document.job_id} about="It is being read." />
        ) : (
          <Empty>It is being read; this takes seconds.</Empty>
        ))}
      {document.session_id && <WorkedUp session={document.session_id} />}
      {status === "ready" && (
        <>
          <FilterBar>
            <SearchInput label="Search in this document" value={q} onChange={setQ} />
          </FilterBar>
          {q ? <Hits q={q} document={id} /> : <Reader id={id} />}
        </>
      )}
    </>
  );
}

/** What an agent made of a transcript. */
function WorkedUp({ session }: { session: string }) {
  const working = api.useQuery("get", "/v1/lifecycle/sessions", { params: { query: { limit: 200 } } });
  const live = working.data?.items.some(({ id }) => id === session) ?? false;
  return (
    <Section title="What an agent makes of it">
      <Fold title={live ? "It is at work" : "It is done"}>
        <Transcript session={session} live={live} />
      </Fold>
    </Section>
  );
}

function Reader({ id }: { id: string }) {
  const [section] = useParam("section");
  const path = { id };
  const toc = api.useQuery("get", "/v1/documents/{id}/toc", { params: { path } });
  const query = section ? { section_id: section } : {};
  const text = api.useQuery("get", "/v1/documents/{id}/section", { params: { path, query } });
  const current = text.data?.section_id ?? section;
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[17rem_minmax(0,1fr)]">
      <Await query={toc} rows={4}>
        {({ items }) => (
          <nav
            aria-label="Outline"
            className="max-h-[75dvh] overflow-y-auto rounded-lg border border-line bg-panel p-2 max-lg:max-h-56 lg:sticky lg:top-4"
          >
            <Outline entries={items} current={current} />
          </nav>
        )}
      </Await>
      <Await query={text} rows={6}>
        {({ title, page, path: above, text: words, previous_id, next_id }) => (
          <Panel className="min-w-0 p-4">
            <p className="text-sm text-dim">
              {above.join(" / ")}
              {page !== null && ` page ${page}`}
            </p>
            <h2 className="mb-2 text-lg font-semibold break-words">{title}</h2>
            <MarkdownText text={words} />
            <div className="mt-4 flex justify-between gap-2 border-t border-line pt-3">
              <Turn to={previous_id} word="Section before" />
              <Turn to={next_id} word="Next section" />
            </div>
          </Panel>
        )}
      </Await>
    </div>
  );
}

function Turn({ to, word }: { to: string | null; word: string }) {
  const [, go] = useParam("section");
  const Icon = word.startsWith("Next") ? ChevronRight : ChevronLeft;
  return <Button label={word} disabled={to === null} icon={Icon} onClick={() => to && go(to)} />;
}

function Outline({ entries, current }: { entries: Entry[]; current: string }) {
  return (
    <ul className="text-sm">
      {entries.map(({ title, section_id, page, children = [] }) => (
        <li key={section_id}>
          <Link
            href={`?section=${encodeURIComponent(section_id)}`}
            replace
            data-row
            aria-current={section_id === current ? "true" : undefined}
            className="flex min-h-7 items-center gap-2 rounded px-2 py-0.5 hover:bg-hover max-sm:min-h-11 aria-[current=true]:bg-hover aria-[current=true]:font-medium"
          >
            <span className="min-w-0 flex-1 break-words">{title}</span>
            {page !== null && <span className="text-dim tabular-nums">{page}</span>}
          </Link>
          {children.length > 0 && (
            <div className="pl-3">
              <Outline entries={children} current={current} />
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}
