/** The fields of a new or existing task. */

import { api, client, must, type Schemas } from "../../api/client.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { Field, Input, InputField, SelectField, TextArea } from "../../ui/field.tsx";
import { PRIORITY, type Project, type Task, WORK_TYPES, wordOf } from "./board.ts";
import { DependsOn } from "./depends-on.tsx";

type Body = Schemas["UpdateProjectTaskBody"];

interface Props {
  project: Project;
  /** The task to change; undefined for a new one. */
  task?: Task;
  status?: string;
  onClose(): void;
}

export function TaskDialog({ project, task, status, onClose }: Props) {
  const agents = api.useQuery("get", "/v1/agents", { params: { query: { limit: 200 } } });
  const path = { id: project.id };
  return (
    <FormDialog
      title={task ? "Edit the task" : "New task"}
      word={task ? "Save" : "Add"}
      changes={["/v1/projects/{id}/tasks", "/v1/projects"]}
      submit={async ({ choice, text, raw, number, words, pickFilled }) => {
        const body = {
          title: text("title"),
          description: raw("description").trim(),
          priority: choice<Task["priority"]>("priority"),
          work_type: choice<NonNullable<Task["work_type"]>>("work_type"),
          assigned_agent: text("assigned_agent") || null,
          estimate_hours: number("estimate_hours") ?? null,
          tags: words("tags"),
          depends_on: words("depends_on"),
        } satisfies Body;
        if (task)
          await must(
            client.PUT("/v1/projects/{id}/tasks/{tid}", { params: { path: { ...path, tid: task.id } }, body }),
          );
        else
          await must(
            client.POST("/v1/projects/{id}/tasks", {
              params: { path },
              body: { ...body, ...pickFilled("status") },
            }),
          );
      }}
      onClose={onClose}
    >
      <InputField label="Title" name="title" required maxLength={300} defaultValue={task?.title} />
      <Field label="Description" hint="What the agents are asked to do. Markdown." name="description">
        <TextArea rows={5} defaultValue={task?.description} />
      </Field>
      <div className="grid gap-x-3 sm:grid-cols-2">
        {!task && (
          <SelectField
            label="Status"
            name="status"
            defaultValue={status ?? "backlog"}
            options={project.columns.flatMap(({ statuses }) => statuses).map((one) => [one, wordOf(one)])}
          />
        )}
        <SelectField
          label="Priority"
          name="priority"
          defaultValue={task?.priority ?? "p2"}
          options={Object.entries(PRIORITY)}
        />
        <SelectField
          label="Kind of work"
          name="work_type"
          defaultValue={task?.work_type ?? "feature"}
          options={WORK_TYPES.map((one) => [one, wordOf(one)])}
        />
        <SelectField
          label="Agent"
          name="assigned_agent"
          key={agents.data ? "ready" : "asking"}
          defaultValue={task?.assigned_agent ?? ""}
          options={[["", "Nobody"], ...(agents.data?.items ?? [])]}
        />
        <Field label="Estimate, hours" name="estimate_hours">
          <Input type="number" min="0" step="0.25" defaultValue={task?.estimate_hours ?? undefined} />
        </Field>
        <InputField label="Tags" name="tags" defaultValue={task?.tags.join(" ")} />
      </div>
      <DependsOn project={project.id} task={task} />
    </FormDialog>
  );
}
