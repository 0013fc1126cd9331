/** Applies one change to several tasks and shows the result for each. */

import { useState } from "react";
import { client, must, type Schemas } from "../../api/client.ts";
import { FormDialog, stay } from "../../kit/form-dialog.tsx";
import { Check, InputField, SelectField } from "../../ui/field.tsx";
import { pluralize } from "../../ui/format.ts";
import { notify } from "../../ui/notice.tsx";
import { AgentField } from "../../ui/pickers.tsx";

type Task = Schemas["ProjectTask"];
type Change = Schemas["UpdateProjectTasksBody"]["change"];

interface Props {
  project: string;
  /** The tasks on the board, with its filter applied. */
  tasks: Task[];
  statuses: string[];
  onClose(): void;
}

export function ChangeSeveral({ project, tasks, statuses, onClose }: Props) {
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map());
  return (
    <FormDialog
      title="Change several tasks"
      word="Change"
      changes={["/v1/projects/{id}/tasks"]}
      submit={async ({ choice, text, isChecked, words, pickFilled }) => {
        const ids = tasks.map(({ id }) => id).filter((id) => isChecked(id));
        const change: Change = {
          ...pickFilled("status", "assigned_agent"),
          ...(text("priority") ? { priority: choice<NonNullable<Change["priority"]>>("priority") } : {}),
          ...(text("add_tags") ? { add_tags: words("add_tags") } : {}),
          ...(text("remove_tags") ? { remove_tags: words("remove_tags") } : {}),
        };
        const params = { path: { id: project } };
        const { items } = await must(client.PATCH("/v1/projects/{id}/tasks", { params, body: { ids, change } }));
        const failed = items.filter(({ error }) => error !== null);
        setRefused(new Map(failed.map(({ id, error }) => [id, error?.message ?? ""])));
        if (failed.length > 0) return stay;
        notify(`${pluralize(items.length, "task")} changed.`);
      }}
      onClose={onClose}
    >
      <fieldset className="mb-3 max-h-60 overflow-y-auto rounded-md border border-line p-2">
        <legend className="px-1 text-sm font-medium">Tasks</legend>
        {tasks.map(({ id, title }) => (
          <Check
            key={id}
            name={id}
            label={title}
            hint={refused.has(id) && <span className="text-bad">{refused.get(id)}</span>}
          />
        ))}
      </fieldset>
      <div className="grid gap-x-3 sm:grid-cols-2">
        <SelectField
          label="Status"
          name="status"
          options={[["", "As it is"], ...statuses.map((status) => [status, status.replaceAll("_", " ")] as const)]}
        />
        <SelectField label="Priority" name="priority" options={[["", "As it is"], "p0", "p1", "p2", "p3"]} />
      </div>
      <AgentField name="assigned_agent" label="Assigned to" none="As it is" />
      <div className="grid gap-x-3 sm:grid-cols-2">
        <InputField label="Add tags" name="add_tags" />
        <InputField label="Remove tags" name="remove_tags" />
      </div>
    </FormDialog>
  );
}
