/** Projects: each is a repository, cloned in the background, with the work done in it. */

import { FolderGit2, Plus } from "lucide-react";
import { useMemo } from "react";
import type { Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { ListPage } from "../../kit/list-page.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { type Column, TwoLines } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { RunsToday, Spend, useRunSums } from "../runs/run-sums.tsx";
import { ImportButton, ImportProject } from "./project-archive.tsx";
import { AddProject } from "./project-form.tsx";

type Project = Schemas["Project"];

export function Workspace({ project }: { project: Project }) {
  const { state, error } = project.workspace;
  if (state === "ready") return <Badge tone="ok">Cloned</Badge>;
  if (state === "cloning") return <Badge tone="run">Cloning…</Badge>;
  if (state === "failed") return <Badge tone="bad">{`Clone failed: ${error ?? ""}`}</Badge>;
  return <Badge>No repository</Badge>;
}

const columnsOf = (sumOf: ReturnType<typeof useRunSums>): Column<Project>[] => [
  {
    title: "Project",
    className: "w-[40%] min-w-40",
    cell: ({ name, description, repository, status }) => (
      <TwoLines
        first={
          <>
            {name} {status !== "active" && <Badge>{status}</Badge>}
          </>
        }
        second={description || repository}
      />
    ),
  },
  { title: "Repository", cell: (project) => <Workspace project={project} /> },
  { title: "Runs today", wide: true, align: "right", cell: ({ id }) => <RunsToday sum={sumOf(id)} /> },
  { title: "Spend, 30 days", wide: true, align: "right", cell: ({ id }) => <Spend sum={sumOf(id)} /> },
  {
    title: "Last activity",
    wide: true,
    align: "right",
    cell: ({ id, updated_at }) => <Ago at={pickLatest(sumOf(id)?.last_run_at, updated_at)} />,
  },
];

const pickLatest = (one: string | undefined, other: string): string => (one !== undefined && one > other ? one : other);

export default function ProjectsPage() {
  const [adding, setAdding] = useParam("new");
  const query = usePages("/v1/projects", { query: { limit: 50 } });
  const sumOf = useRunSums("project");
  const columns = useMemo(() => columnsOf(sumOf), [sumOf]);
  const add = <Button label="Add a project" kind="primary" icon={Plus} iconSize={15} onClick={() => setAdding("1")} />;
  return (
    <ListPage
      title="Projects"
      cli="skep projects"
      actions={
        <>
          <ButtonLink href="/onboarding">Onboard a project</ButtonLink>
          <ImportButton open={() => setAdding("import")} />
          {add}
        </>
      }
      query={query}
      columns={columns}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/projects/${id}`}
      lines={5}
      empty={{
        text: (
          <>
            <FolderGit2 aria-hidden className="mx-auto mb-2 text-faint" />A project is a repository that agents work in,
            each run on a branch of its own.
          </>
        ),
        action: add,
        cli: "skep projects add --repository URL",
      }}
    >
      {adding === "import" && <ImportProject onClose={() => setAdding("")} />}
      {adding && adding !== "import" && <AddProject onClose={() => setAdding("")} />}
    </ListPage>
  );
}
