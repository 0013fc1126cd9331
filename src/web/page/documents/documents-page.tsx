/** Documents: handed in, read in the background, searched. */
import { FileUp } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { api, client, fieldError, must, type Schemas } from "../../api/client.ts";
import { refresh, usePages } from "../../api/queries.ts";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Input, Select } from "../../ui/field.tsx";
import { FilterBar, SearchInput } from "../../ui/filter.tsx";
import { Form } from "../../ui/form.tsx";
import { bytes, plural } from "../../ui/format.ts";
import { Await, Empty } from "../../ui/note.tsx";
import { notify } from "../../ui/notice.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, Table, TwoLines } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";

type Doc = Schemas["Document"];

/** A document's state as one of those that the dashboard knows. */
export const documentStatus = ({ status }: Pick<Doc, "status">): string =>
  status === "processing" ? "working" : status;

const COLUMNS: Column<Doc>[] = [
  {
    title: "Document",
    className: "w-1/2 min-w-40",
    cell: ({ title, source, error }) => <TwoLines first={title} second={error ?? source} />,
  },
  { title: "State", cell: (document) => <Status status={documentStatus(document)} /> },
  { title: "Sections", wide: true, align: "right", cell: ({ sections }) => sections },
  { title: "Size", wide: true, align: "right", cell: ({ size_bytes }) => bytes(size_bytes) },
  { title: "Added", align: "right", cell: ({ created_at }) => <Ago at={created_at} /> },
];

export default function DocumentsPage() {
  const [q, setQ] = useParam("q");
  const [fresh, setFresh] = useParam("new");
  const query = usePages("/v1/documents", { query: { limit: 50 } });
  const add = (kind: "primary" | "plain") => (
    <Button kind={kind} icon={<FileUp aria-hidden size={15} />} onClick={() => setFresh("1")}>
      Add a document
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Documents"
        about="Manuals, papers and notes that agents look things up in. Yours alone, or a project's."
        cli={q ? `skep documents search ${q}` : "skep documents"}
        actions={add("primary")}
      />
      <FilterBar>
        <SearchInput label="Search in documents" value={q} onChange={setQ} />
      </FilterBar>
      {q ? (
        <Hits q={q} />
      ) : (
        <Await query={query} rows={5}>
          {() =>
            query.rows.length === 0 ? (
              <Empty action={add("plain")} cli="skep documents add FILE">
                There is no document yet.
              </Empty>
            ) : (
              <Table
                label="Documents"
                rows={query.rows}
                columns={COLUMNS}
                keyOf={({ id }) => id}
                hrefOf={({ id }) => `/documents/${id}`}
                more={query}
              />
            )
          }
        </Await>
      )}
      {fresh && <AddDocument onClose={() => setFresh("")} />}
    </>
  );
}

/** The best paragraphs, one a section. */
export function Hits({ q, document }: { q: string; document?: string }) {
  const query = api.useQuery("get", "/v1/documents/search", {
    params: { query: { query: q, limit: 30, ...(document ? { document_id: document } : {}) } },
  });
  return (
    <Await query={query} rows={4}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty>No document says anything like that.</Empty>
        ) : (
          <>
            <p role="status" className="mb-2 text-sm text-dim">
              {plural(items.length, "section")}, best first
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
                    <span className="line-clamp-3 break-words text-sm text-dim">{snippet}</span>
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

function AddDocument({ onClose }: { onClose(): void }) {
  const action = useAction();
  const [file, setFile] = useState<File>();
  const projects = api.useQuery("get", "/v1/projects", { params: { query: { limit: 200 } } });
  return (
    <Dialog title="Add a document" onClose={onClose}>
      <Form
        action={action}
        word="Add"
        onCancel={onClose}
        submit={async ({ text }) => {
          const form = new FormData();
          if (file) form.set("file", file, file.name);
          for (const name of ["title", "project_id"]) if (text(name)) form.set(name, text(name));
          await must(client.POST("/v1/ingest/document", { body: form as never, bodySerializer: () => form }));
          await refresh("/v1/documents");
          notify("It is being read.");
          onClose();
        }}
      >
        <Field
          label="File"
          hint="PDF, DOCX, HTML, Markdown or text; 50 MiB at most."
          error={fieldError(action.error, "file")}
        >
          <Input
            type="file"
            required
            accept=".pdf,.docx,.html,.htm,.md,.txt"
            className="py-1.5"
            onChange={(event) => setFile(event.target.files?.[0])}
          />
        </Field>
        <Field label="Title" hint="Left empty: the document's own." error={fieldError(action.error, "title")}>
          <Input name="title" maxLength={300} />
        </Field>
        <Field
          label="Project"
          hint="Everybody who sees the project reads it."
          error={fieldError(action.error, "project_id")}
        >
          <Select name="project_id" defaultValue="">
            <option value="">None: mine alone</option>
            {projects.data?.items.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </Select>
        </Field>
      </Form>
    </Dialog>
  );
}
