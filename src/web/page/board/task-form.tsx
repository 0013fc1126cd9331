/** A task's fields, for a new one and for one that is changed. */

import { api, client, must, type Schemas } from "../../api/client.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { Field, Input, Select, TextArea } from "../../ui/field.tsx";
import { PRIORITY, type Project, type Task, WORK_TYPES, wordOf } from "./board.ts";
import { DependsOn } from "./depends-on.tsx";

type Body = Schemas["UpdateProjectTaskBody"];

const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

interface Props {
  project: Project;
  /** The task to change; a new one without. */
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
      submit={async ({ choice, text, raw, number }) => {
        const body = {
          title: text("title"),
          description: raw("description").trim(),
          priority: choice<Task["priority"]>("priority"),
          work_type: choice<NonNullable<Task["work_type"]>>("work_type"),
          assigned_agent: text("assigned_agent") || null,
          estimate_hours: number("estimate_hours") ?? null,
          tags: wordsOf(text("tags")),
          depends_on: wordsOf(text("depends_on")),
        } satisfies Body;
        if (task)
          await must(
            client.PUT("/v1/projects/{id}/tasks/{tid}", { params: { path: { ...path, tid: task.id } }, body }),
          );
        else
          await must(
            client.POST("/v1/projects/{id}/tasks", {
              params: { path },
              body: { ...body, ...(text("status") ? { status: text("status") } : {}) },
            }),
          );
      }}
      onClose={onClose}
    >
      <Field label="Title" name="title">
        <Input required maxLength={300} defaultValue={task?.title} />
      </Field>
      <Field label="Description" hint="What the agents are asked to do. Markdown." name="description">
        <TextArea rows={5} defaultValue={task?.description} />
      </Field>
      <div className="grid gap-x-3 sm:grid-cols-2">
        {!task && (
          <Field label="Status">
            <Select name="status" defaultValue={status ?? "backlog"}>
              {project.columns
                .flatMap(({ statuses }) => statuses)
                .map((one) => (
                  <option key={one} value={one}>
                    {wordOf(one)}
                  </option>
                ))}
            </Select>
          </Field>
        )}
        <Field label="Priority">
          <Select name="priority" defaultValue={task?.priority ?? "p2"}>
            {Object.entries(PRIORITY).map(([id, name]) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </Select>
        </Field>
        <Field label="Kind of work">
          <Select name="work_type" defaultValue={task?.work_type ?? "feature"}>
            {WORK_TYPES.map((one) => (
              <option key={one} value={one}>
                {wordOf(one)}
              </option>
            ))}
          </Select>
        </Field>
        <Field label="Agent" name="assigned_agent">
          <Select key={agents.data ? "ready" : "asking"} defaultValue={task?.assigned_agent ?? ""}>
            <option value="">Nobody</option>
            {agents.data?.items.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </Select>
        </Field>
        <Field label="Estimate, hours" name="estimate_hours">
          <Input type="number" min="0" step="0.25" defaultValue={task?.estimate_hours ?? undefined} />
        </Field>
        <Field label="Tags" name="tags">
          <Input defaultValue={task?.tags.join(" ")} />
        </Field>
      </div>
      <DependsOn project={project.id} task={task} />
    </FormDialog>
  );
}
