/** Publishes the run's branch at the code host: pushes it, or also opens a pull request. */

import { ExternalLink, GitPullRequest } from "lucide-react";
import { useState } from "react";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { InputField, TextAreaField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { notify } from "../../ui/notice.tsx";

type Run = Schemas["Run"];

/** @param run a run that has ended and has a branch. */
export function Publish({ run }: { run: Run }) {
  const [open, setOpen] = useState(false);
  const params = { path: { id: run.id } };
  const project = api.useQuery(
    "get",
    "/v1/projects/{id}",
    { params: { path: { id: run.project_id ?? "" } } },
    { enabled: run.project_id !== null },
  );
  const host = api.useQuery("get", "/v1/codehost/app/status");
  // A run without a pull request answers 404, which is no error here.
  const asked = { retry: false, enabled: host.data?.connected === true };
  const pull = api.useQuery("get", "/v1/runs/{id}/pull-request", { params }, asked);
  if (!run.branch || !project.data?.repository) return null;
  const { number, url, pull_state, state, error } = pull.data ?? {};
  return (
    <>
      {url && (
        <a href={url} target="_blank" rel="noreferrer" className="inline-flex items-center gap-1 text-sm underline">
          Pull request {number} {pull_state && `(${pull_state})`}
          <ExternalLink aria-hidden size={12} />
        </a>
      )}
      {state === "failed" && error && <span className="text-sm text-bad">Code host: {error.message}</span>}
      <Button label="Publish" icon={GitPullRequest} onClick={() => setOpen(true)} />
      {open && <PublishDialog run={run} repository={project.data.repository} onClose={() => setOpen(false)} />}
    </>
  );
}

function PublishDialog({ run, repository, onClose }: { run: Run; repository: string; onClose(): void }) {
  const action = useChange("/v1/runs");
  const pushing = useChange("/v1/runs");
  const params = { path: { id: run.id } };
  const push = () =>
    pushing.run(async () => {
      const { branch } = await must(client.POST("/v1/runs/{id}/push", { params }));
      notify(`${branch} is pushed.`);
      onClose();
    });
  return (
    <Dialog title="Publish the run's branch" onClose={onClose}>
      <p className="mb-3 text-dim">
        <code className="font-mono">{run.branch}</code> goes to{" "}
        <code className="font-mono break-all">{repository}</code>. Nothing is merged.
      </p>
      <Form
        action={pushing.error ? { ...action, error: pushing.error } : action}
        word="Open a pull request"
        onCancel={onClose}
        submit={async ({ pickFilled }) => {
          pushing.clear();
          const body = pickFilled("title", "body", "base");
          await must(client.POST("/v1/runs/{id}/pull-request", { params, body }));
          notify("The pull request is being opened.");
          onClose();
        }}
      >
        <InputField label="Title" hint="Left empty, it is made from the task." name="title" />
        <TextAreaField label="Text" name="body" rows={3} />
        <InputField label="Into" hint="Left empty, the default branch." name="base" spellCheck={false} />
        <div className="mb-3">
          <Button label="Only push the branch" busy={pushing.busy} onClick={push} />
        </div>
      </Form>
    </Dialog>
  );
}
