/** Adds many tasks at once: a list of titles, or the JSON or YAML that `skep tasks import` accepts. */
import { useState } from "react";
import { parse } from "yaml";
import { client, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextArea } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { pluralize } from "../../ui/format.ts";
import { JobProgress } from "../../ui/job-progress.tsx";
import { CliLine } from "../../ui/page.tsx";

type Tasks = Schemas["ImportProjectTaskBody"]["tasks"];
type Job = Schemas["Job"];

/** @returns the tasks of a JSON or YAML list, or one task per line of plain text. The server validates them. */
function tasksOf(text: string): Tasks {
  let value: unknown;
  try {
    value = parse(text);
  } catch {
    value = text;
  }
  if (typeof value === "object" && value !== null && "tasks" in value) value = value.tasks;
  const list = Array.isArray(value)
    ? value
    : text.split("\n").map((line) => line.replace(/^\s*(?:[-*]|\d+[.)])\s+/, ""));
  return list
    .map((one: unknown) => (typeof one === "string" ? { title: one.trim() } : (one as Tasks[number])))
    .filter((one) => one?.title !== "");
}

export default function ImportDialog({ project, onClose }: { project: string; onClose(): void }) {
  const action = useChange();
  const [job, setJob] = useState("");
  return (
    <Dialog title="Import tasks" onClose={onClose}>
      {job ? (
        <>
          <JobProgress
            id={job}
            about="Importing."
            onEnd={() => refresh("/v1/projects/{id}/tasks")}
            renderEnd={(ended) => <Outcome job={ended} />}
          />
          <div className="mt-4 flex justify-end">
            <Button onClick={onClose}>Close</Button>
          </div>
        </>
      ) : (
        <Form
          action={action}
          word="Import"
          onCancel={onClose}
          submit={async ({ raw }) => {
            const body = { tasks: tasksOf(raw("tasks")) };
            const params = { path: { id: project } };
            setJob((await must(client.POST("/v1/projects/{id}/tasks/import", { params, body }))).id);
          }}
        >
          <Field
            label="Tasks"
            hint="A title a line, or a list in JSON or YAML with title, description, priority, tags, key, depends_on."
            name="tasks"
          >
            <TextArea required rows={8} spellCheck={false} className="font-mono" />
          </Field>
          <CliLine line="skep tasks import tasks.yml" />
        </Form>
      )}
    </Dialog>
  );
}

function Outcome({ job }: { job: Job }) {
  if (job.state !== "succeeded")
    return (
      <p role="alert" className="rounded-md bg-bad-soft px-3 py-2">
        {job.error?.message ?? "The import was stopped. Tasks made before that stay."}
      </p>
    );
  const { created, refused = [] } = job.result as { created: number; refused?: { title: string; message: string }[] };
  return (
    <div role="status">
      <p>{pluralize(created, "task")} imported.</p>
      {refused.length > 0 && (
        <ul className="mt-2 rounded-md bg-bad-soft px-3 py-2">
          {refused.map(({ title, message }) => (
            <li key={title}>
              <b className="font-medium">{title}</b>: {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
