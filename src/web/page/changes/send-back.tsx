/** Sends a run back to its agents with the comments on its changes: it restarts from a step, and they read them. */
import { useLocation } from "wouter";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { useAction } from "../../ui/action.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Select, TextArea } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { plural } from "../../ui/format.ts";
import { Await } from "../../ui/note.tsx";
import { notify } from "../../ui/notice.tsx";
import type { Review, Work } from "./review.ts";

/** Sends other work than a run back: its agent reads the comments and works on the same branch. */
export function SendBackWork({ work, review, onClose }: { work: Work; review: Review; onClose(): void }) {
  const action = useAction();
  const { comments } = review;
  return (
    <Dialog title="Send it back" onClose={onClose}>
      <Form
        action={action}
        word="Send back"
        onCancel={onClose}
        submit={async ({ text }) => {
          const message = text("message");
          const params = { path: { id: work.work_id } };
          await must(client.POST("/v1/changes/{id}/send-back", { params, body: message ? { message } : {} }));
          notify("Sent back. The agent works on the comments.");
          await refresh("/v1/changes", "/v1/chat/sessions");
          onClose();
        }}
      >
        <p className="mb-3 text-dim">
          {comments.length > 0 &&
            `${plural(comments.length, "comment")} ${comments.length === 1 ? "goes" : "go"} with it. `}
          The agent continues on the branch as it is.
        </p>
        <Field label="Message" name="message">
          <TextArea rows={3} required={comments.length === 0} placeholder="What the agent should know." />
        </Field>
      </Form>
    </Dialog>
  );
}

export function SendBack({ run, review, onClose }: { run: Schemas["Run"]; review: Review; onClose(): void }) {
  const plan = api.useQuery("get", "/v1/runs/{id}/plan", { params: { path: { id: run.id } } });
  const action = useAction();
  const [, navigate] = useLocation();
  const { comments } = review;
  return (
    <Dialog title="Send the run back" onClose={onClose}>
      <Await query={plan} rows={3}>
        {({ steps }) => (
          <Form
            action={action}
            word="Send back"
            onCancel={onClose}
            submit={async ({ text }) => {
              const message = text("message");
              const body = { from_step: text("from_step"), ...(message ? { message } : {}) };
              await must(client.POST("/v1/runs/{id}/send-back", { params: { path: { id: run.id } }, body }));
              notify("Sent back. The agents work on the comments.");
              // The run's page shows what is there: first the new attempt, then the page.
              await refresh("/v1/runs", "/v1/steps", "/v1/changes");
              navigate(`/runs/${run.id}`);
            }}
          >
            <p className="mb-3 text-dim">
              {comments.length > 0
                ? `${plural(comments.length, "comment")} ${comments.length === 1 ? "goes" : "go"} with it. The branch stays as it is: the agents continue on it.`
                : "The branch stays as it is: the agents continue on it."}
            </p>
            <Field label="From" hint="This step and those after it run again." name="from_step">
              <Select defaultValue={likelyStep(steps)}>
                {steps.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </Select>
            </Field>
            <Field label="Message" name="message">
              <TextArea rows={3} required={comments.length === 0} placeholder="What all of them should know." />
            </Field>
          </Form>
        )}
      </Await>
    </Dialog>
  );
}

/** The first step of an agent that most likely wrote the code: the last that is not a review. */
function likelyStep(steps: Schemas["StepPlan"][]): string {
  const builds = steps.find(({ id, agent_id }) => /build|implement|code|fix|write/i.test(`${id} ${agent_id ?? ""}`));
  return (builds ?? steps.find(({ kind }) => kind !== "approval"))?.id ?? "";
}
