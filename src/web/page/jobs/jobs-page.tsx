/** Background jobs: clones, indexes, image pulls. */

import { api, client, type Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { ListPage } from "../../kit/list-page.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { formatField, isId } from "../../ui/format.ts";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, TwoLines } from "../../ui/table.tsx";
import { Ago, Took } from "../../ui/time.tsx";

type Job = Schemas["Job"];

const WORDS: Record<string, string> = {
  clone: "Clone of a repository",
  index: "Index of a code graph",
  pull_image: "Pull of an image",
  fetch_project: "Fetch of a repository",
  merge_run: "Merge",
  discard_branch: "Removal of a branch",
  import_tasks: "Import of tasks",
  ingest_document: "Reading of a document",
  read_attachment: "Reading of an attachment",
  try_model: "Trial of a model",
};

export default function JobsPage() {
  const query = usePages("/v1/jobs", { query: { limit: 50 } });
  const action = useChange("/v1/jobs");
  const projects = api.useQuery("get", "/v1/projects", { params: { query: { limit: 200 } } });
  const nameOf = (id: string | null) => projects.data?.items.find((project) => project.id === id)?.name;
  const cancel = (id: string) => action.run(() => client.POST("/v1/jobs/{id}/cancel", { params: { path: { id } } }));
  const columns: Column<Job>[] = [
    {
      title: "Work",
      className: "w-2/5 min-w-44",
      cell: ({ kind, state, detail, subject, project_id }) => {
        const project = nameOf(project_id);
        // The last step of a finished job is not interesting, so it is not shown.
        const last = state === "succeeded" ? null : detail;
        return (
          <TwoLines
            first={`${WORDS[kind] ?? formatField(kind)}${project ? `: ${project}` : ""}`}
            second={last ?? (subject === project || (subject && isId(subject)) ? undefined : subject)}
          />
        );
      },
    },
    {
      title: "State",
      cell: ({ state, error }) => (
        <>
          <Status status={state} />
          {error && (
            <span className="block text-sm text-dim max-md:w-40 max-md:whitespace-normal">{error.message}</span>
          )}
        </>
      ),
    },
    {
      title: "Done",
      wide: true,
      align: "right",
      cell: ({ percent, state }) => (state === "running" && percent !== null ? `${Math.round(percent)} %` : ""),
    },
    {
      title: "Took",
      wide: true,
      align: "right",
      cell: ({ created_at, finished_at }) => <Took from={created_at} to={finished_at} />,
    },
    { title: "Started", wide: true, align: "right", cell: ({ created_at }) => <Ago at={created_at} /> },
    {
      title: "Stop",
      quiet: true,
      align: "right",
      cell: ({ id, state }) =>
        (state === "running" || state === "queued") && (
          <Button label="Cancel" kind="quiet" onClick={() => cancel(id)} />
        ),
    },
  ];
  return (
    <ListPage
      title="Background work"
      cli="skep jobs"
      before={<ProblemNote error={action.error} />}
      query={query}
      columns={columns}
      keyOf={({ id }) => id}
      lines={4}
      empty={{
        text: "Nothing has been done in the background yet: clones, indexes and image pulls show here.",
        action: <ButtonLink href="/projects">Open the projects</ButtonLink>,
        cli: "skep jobs",
      }}
    />
  );
}
