/**
 * Sends a run back to its agents with the review's comments: the run restarts from a step, and the agents read them.
 */

import { useLocation } from "wouter";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { Field, Select, TextArea } from "../../ui/field.tsx";
import { pluralize } from "../../ui/format.ts";
import { ProblemNote } from "../../ui/problem-note.tsx";
import type { Review, Work } from "./review.ts";

/** Sends back work that is not a run: its agent reads the comments and continues on the same branch. */
export function SendBackWork({ work, review, onClose }: { work: Work; review: Review; onClose(): void }) {
  const { comments } = review;
  return (
    <FormDialog
      title="Send it back"
      word="Send back"
      changes={["/v1/changes", "/v1/chat/sessions"]}
      said="Sent back. The agent works on the comments."
      submit={({ pickFilled }) => {
        const params = { path: { id: work.work_id } };
        return client.POST("/v1/changes/{id}/send-back", { params, body: pickFilled("message") });
      }}
      onClose={onClose}
    >
      <p className="mb-3 text-dim">
        {comments.length > 0 &&
          `${pluralize(comments.length, "comment")} ${comments.length === 1 ? "goes" : "go"} with it. `}
        The agent continues on the branch as it is.
      </p>
      <Field label="Message" name="message">
        <TextArea rows={3} required={comments.length === 0} placeholder="What the agent should know." />
      </Field>
    </FormDialog>
  );
}

export function SendBack({ run, review, onClose }: { run: Schemas["Run"]; review: Review; onClose(): void }) {
  const plan = api.useQuery("get", "/v1/runs/{id}/plan", { params: { path: { id: run.id } } });
  const [, navigate] = useLocation();
  const { comments } = review;
  const steps = plan.data?.steps;
  return (
    <FormDialog
      title="Send the run back"
      word="Send back"
      changes={["/v1/runs", "/v1/steps", "/v1/changes"]}
      said="Sent back. The agents work on the comments."
      submit={async ({ text, pickFilled }) => {
        const body = { from_step: text("from_step"), ...pickFilled("message") };
        await must(client.POST("/v1/runs/{id}/send-back", { params: { path: { id: run.id } }, body }));
        // Open the run's page only after the new attempt was fetched: the page shows cached data at first.
        return () => navigate(`/runs/${run.id}`);
      }}
      onClose={onClose}
    >
      <p className="mb-3 text-dim">
        {comments.length > 0 &&
          `${pluralize(comments.length, "comment")} ${comments.length === 1 ? "goes" : "go"} with it. `}
        The branch stays as it is: the agents continue on it.
      </p>
      <ProblemNote error={plan.error} retry={plan.refetch} />
      <Field label="From" hint="This step and those after it run again." name="from_step">
        {/* A select takes its default only when it is created, so the key creates it anew once the steps are known. */}
        <Select key={steps ? "known" : "asked"} required defaultValue={likelyStep(steps ?? [])} options={steps} />
      </Field>
      <Field label="Message" name="message">
        <TextArea rows={3} required={comments.length === 0} placeholder="What all of them should know." />
      </Field>
    </FormDialog>
  );
}

/** The step that most likely wrote the code: the first whose id or agent says so, else the first that is not an approval. */
function likelyStep(steps: Schemas["StepPlan"][]): string {
  const builds = steps.find(({ id, agent_id }) => /build|implement|code|fix|write/i.test(`${id} ${agent_id ?? ""}`));
  return (builds ?? steps.find(({ kind }) => kind !== "approval"))?.id ?? "";
}
