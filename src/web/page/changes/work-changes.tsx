/** The changes of work that is no run: on a page of their own, and as a tab of a chat. */
import { Link, useParams } from "wouter";
import { api, problemOf, type Schemas } from "../../api/client.ts";
import { lazy } from "../../ui/lazy.tsx";
import { NameLink } from "../../ui/link.tsx";
import { Await, Loading, Warning } from "../../ui/note.tsx";
import { PageHeader } from "../../ui/page.tsx";

const Changes = lazy(() => import("./changes.tsx"), <Loading rows={6} part />);

type Work = Schemas["Changes"];

const KINDS: Record<Work["kind"], string> = {
  run: "Run",
  chat: "Chat",
  routine: "Routine",
  swarm: "Swarm",
  spawn: "Spawned work",
};

/** The page of the work that made the changes, if it has one. */
function homeOf({ kind, work_id }: Work): string | undefined {
  if (kind === "run") return `/runs/${work_id}?tab=changes`;
  if (kind === "chat") return `/chat/${work_id}?tab=changes`;
  if (kind === "swarm") return `/swarms/${work_id.replace(/^sess_/, "swm_")}`;
  return undefined;
}

const useChanges = (id: string) => api.useQuery("get", "/v1/changes/{id}", { params: { path: { id } } });

export default function ChangesPage() {
  const { id = "" } = useParams<{ id: string }>();
  const query = useChanges(id);
  return (
    <Await query={query} page="Changes" list={["/activity", "Activity"]}>
      {(work) => {
        const home = homeOf(work);
        return (
          <div data-wide>
            <PageHeader
              title={work.title}
              cli={`skep diff ${work.work_id}`}
              above={home ? <NameLink href={home}>{KINDS[work.kind]}</NameLink> : KINDS[work.kind]}
            />
            <WorkChanges id={work.work_id} />
          </div>
        );
      }}
    </Await>
  );
}

/** @param id id of a run, session, swarm, spawned execution or tick of a routine. */
export function WorkChanges({ id }: { id: string }) {
  const query = useChanges(id);
  return (
    <Await query={query} rows={4}>
      {(work) => (
        <>
          <p className="mb-3 text-sm text-dim">
            On the branch <code className="font-mono break-all">{work.branch}</code>.
            {work.at_work && " An agent is at work: what it has not committed yet is not shown."}
          </p>
          {work.notice && <Warning>{work.notice}</Warning>}
          {work.base_commit === null ? <p>It has not begun to work on its files.</p> : <Changes work={work} />}
        </>
      )}
    </Await>
  );
}

/** Links to the changes of work that has a branch; renders nothing for other work. */
export function ChangesLink({ id, project }: { id: string; project: string | null }) {
  const query = api.useQuery(
    "get",
    "/v1/changes/{id}",
    { params: { path: { id } } },
    // Work of earlier versions and work without files has no changes and answers 404, which is no error here.
    { enabled: project !== null, retry: (tries, error) => tries < 3 && problemOf(error).status >= 500 },
  );
  if (!query.data) return null;
  return (
    <Link href={`/changes/${id}`} className="underline max-sm:min-h-11">
      {query.data.merged_into ? `Changes, merged into ${query.data.merged_into}` : "Changes"}
    </Link>
  );
}
