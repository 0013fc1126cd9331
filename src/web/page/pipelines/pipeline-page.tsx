/**
 * One pipeline: its text, with problems at their lines, beside its graph. Before it is saved, the changes are shown.
 */

import { FlaskConical, Play, Save, Trash2 } from "lucide-react";
import { useDeferredValue, useMemo, useRef, useState } from "react";
import { useLocation, useParams } from "wouter";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { ifMatch, type Tagged, useTagged } from "../../api/tagged.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { DraftProblem } from "../../kit/draft-problem.tsx";
import { useAdmin } from "../../session/session.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { useDraft } from "../../ui/draft.ts";
import { DraftNote } from "../../ui/draft-note.tsx";
import { FileProblems } from "../../ui/file-problems.tsx";
import { lazy } from "../../ui/lazy.tsx";
import { LineDiff } from "../../ui/line-diff.tsx";
import { Await, Loading } from "../../ui/note.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { completePipeline, type Schema } from "./complete.ts";

const Editor = lazy(() => import("../../ui/editor.tsx"), <Loading rows={8} />);
/** Loaded separately, because it contains a YAML parser that the heading need not wait for. */
const Picture = lazy(() => import("./pipeline-picture.tsx"), <Loading rows={6} />);

const TEMPLATE = `id: my-pipeline
name: My pipeline
description: What it is for.
steps:
  - id: do
    agent: engineer
    input: |
      {{ task_description }}
    outputs: [summary]
`;

export default function PipelinePage() {
  const { id = "" } = useParams<{ id: string }>();
  if (id === "+new") return <PipelineEditor key="new" tagged={undefined} />;
  return <StoredPipeline key={id} id={id} />;
}

function StoredPipeline({ id }: { id: string }) {
  const params = { path: { id } };
  const query = useTagged("/v1/pipelines/{id}", params, () => client.GET("/v1/pipelines/{id}", { params }));
  return (
    <Await query={query} page="Pipeline" list={["/pipelines", "Pipelines"]}>
      {(tagged) => <PipelineEditor tagged={tagged} />}
    </Await>
  );
}

function PipelineEditor({ tagged }: { tagged: Tagged<Schemas["Pipeline"]> | undefined }) {
  const admin = useAdmin();
  const [, navigate] = useLocation();
  const stored = tagged?.value;
  const draft = useDraft(`pipeline/${stored?.id ?? "+new"}`, {
    saved: stored?.source ?? TEMPLATE,
    version: tagged?.etag,
    asks: true,
    what: stored ? `the pipeline ${stored.name || stored.id}` : "a new pipeline",
  });
  const { text, set: setText } = draft;
  const [dialog, setDialog] = useState<"save" | "delete" | null>(null);
  const action = useChange("/v1/pipelines");
  const settled = useDeferredValue(text);
  const check = api.useQuery(
    "post",
    "/v1/pipelines/validate",
    { body: { source: settled } },
    { staleTime: 60_000, placeholderData: (old) => old },
  );
  const complete = useCompletion();
  // For the stored text use the stored problems: checking a text does not find problems of the file itself.
  const problems = text === stored?.source ? stored.problems : (check.data?.problems ?? []);
  const changed = text !== (stored?.source ?? "");
  const save = async (version: string | undefined) => {
    if (!stored) {
      await action.run(async () => {
        const made = await must(client.POST("/v1/pipelines", { body: { source: text } }));
        draft.clear();
        navigate(`/pipelines/${made.id}`);
      });
      return;
    }
    const params = { path: { id: stored.id } };
    const put = () => client.PUT("/v1/pipelines/{id}", { params, body: { source: text }, ...ifMatch(version) });
    if (await action.run(put, "Saved. Runs that have started keep their own copy.")) draft.clear();
  };
  const title = stored ? stored.name || stored.id : "New pipeline";
  return (
    <>
      <PageHeader
        title={title}
        crumbs={[["/pipelines", "Pipelines"]]}
        about={stored?.description}
        cli={stored && `skep run ${stored.id} "…" --follow`}
        actions={
          <>
            {stored && admin && (
              <Button label="Delete" kind="danger" icon={Trash2} onClick={() => setDialog("delete")} />
            )}
            {stored?.valid && (
              <ButtonLink label="Dry run" href={`/runs/new?pipeline=${stored.id}&dry=1`} icon={FlaskConical} />
            )}
            {stored?.valid && <ButtonLink label="Start a run" href={`/runs/new?pipeline=${stored.id}`} icon={Play} />}
            {admin && (
              <Button
                kind="primary"
                icon={Save}
                busy={action.busy}
                disabled={!changed || problems.length > 0}
                onClick={() => (stored ? setDialog("save") : save(undefined))}
              >
                Save
              </Button>
            )}
          </>
        }
      />
      <DraftProblem
        change={action}
        draft={draft}
        mine={text}
        theirs={stored?.source}
        overwrite={() => save(tagged?.etag)}
      />
      <DraftNote draft={draft} />
      <FileProblems problems={problems} />
      <ProblemNote error={check.error} retry={check.refetch} />
      <div className="grid gap-4 xl:grid-cols-2">
        <div className="h-[34rem]">
          <Editor
            label={`Text of ${title}`}
            value={text}
            onChange={setText}
            problems={problems}
            complete={complete}
            readOnly={!admin}
          />
        </div>
        <Picture source={settled} {...(admin ? { change: setText } : {})} />
      </div>
      {dialog === "save" && stored && (
        <Dialog title="What changes" wide onClose={() => setDialog(null)}>
          <LineDiff before={stored.source} after={text} />
          <div className="mt-4 flex justify-end gap-2">
            <Button onClick={() => setDialog(null)}>Back</Button>
            <Button
              label="Save this"
              kind="primary"
              onClick={() => {
                setDialog(null);
                void save(draft.version);
              }}
            />
          </div>
        </Dialog>
      )}
      {dialog === "delete" && stored && (
        <Confirm
          title={`Delete ${title}?`}
          word="Delete the pipeline"
          onClose={() => setDialog(null)}
          changes={["/v1/pipelines"]}
          act={() => client.DELETE("/v1/pipelines/{id}", { params: { path: { id: stored.id } } })}
          leaveTo="/pipelines"
        >
          Its file is removed. Runs of it continue with the copy they hold.
        </Confirm>
      )}
    </>
  );
}

/** Completion with the server's schema, agents and models. It is the same function as long as the page is open. */
function useCompletion() {
  const many = { params: { query: { limit: 200 } } };
  const schema = api.useQuery("get", "/v1/pipelines/schema.json", undefined, { staleTime: Number.POSITIVE_INFINITY });
  const agents = api.useQuery("get", "/v1/agents", many);
  const models = api.useQuery("get", "/v1/models", many);
  const known = {
    schema: schema.data as Schema | undefined,
    agents: (agents.data?.items ?? []).map(({ id, role }) => ({ label: id, info: role || undefined })),
    models: (models.data?.items ?? []).map(({ id }) => ({ label: id })),
  };
  const now = useRef(known);
  now.current = known;
  return useMemo(() => completePipeline(() => now.current), []);
}
