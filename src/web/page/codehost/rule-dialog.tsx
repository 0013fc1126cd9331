/** The form that creates or changes a rule. */

import { useState } from "react";
import { client, must, type Schemas } from "../../api/client.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { Check, Field, Input, InputField, SelectField } from "../../ui/field.tsx";
import { PipelineField, ProjectField } from "../../ui/pickers.tsx";

type Rule = Schemas["CodeHostRule"];
type Event = Rule["event"];

export const EVENTS: Record<Event, string> = {
  issue_labeled: "an issue gets a label",
  issue_comment: "a comment begins with a command",
  issue_opened: "an issue is opened",
  pull_request_opened: "a pull request is opened",
  pull_request_labeled: "a pull request gets a label",
};
const BY: Record<Rule["permission"], string> = {
  read: "who may read the repository",
  write: "who may write to it",
  admin: "its administrators",
};

/** @param rule the rule to change; undefined for a new one. */
export function RuleDialog({ rule, onClose }: { rule: Rule | undefined; onClose(): void }) {
  const [event, setEvent] = useState<Event>(rule?.event ?? "issue_labeled");
  return (
    <FormDialog
      title={rule ? "Change the rule" : "Add a rule"}
      word={rule ? "Save" : "Add"}
      changes={["/v1/codehost/rules"]}
      submit={async ({ choice, text, isChecked, words }) => {
        const fields = {
          name: text("name"),
          event,
          pipeline_id: text("pipeline_id"),
          label: event.endsWith("_labeled") ? text("label") : null,
          command: event === "issue_comment" ? text("command") : null,
          permission: choice<Rule["permission"]>("permission"),
          bots: words("bots"),
          pull_request: event.startsWith("issue_") && isChecked("pull_request"),
        };
        if (rule)
          await must(client.PUT("/v1/codehost/rules/{id}", { params: { path: { id: rule.id } }, body: fields }));
        else await must(client.POST("/v1/codehost/rules", { body: { ...fields, project_id: text("project_id") } }));
      }}
      onClose={onClose}
    >
      <InputField label="Name" name="name" required maxLength={200} defaultValue={rule?.name} />
      {rule ? (
        <p className="mb-3">
          In <code>{rule.repository}</code>
        </p>
      ) : (
        <ProjectField
          none="Choose one"
          required
          hint="The rule is about its repository, which must be on the connected host."
        />
      )}
      <SelectField label="When" name="event" value={event} onPick={setEvent} options={Object.entries(EVENTS)} />
      {event.endsWith("_labeled") && (
        <InputField label="Label" name="label" required maxLength={250} defaultValue={rule?.label ?? "agent"} />
      )}
      {event === "issue_comment" && (
        <Field label="Command" hint="The first word of the comment." name="command">
          <Input required defaultValue={rule?.command ?? "/skep"} spellCheck={false} />
        </Field>
      )}
      <SelectField
        label="By"
        hint="The host is asked for the actor's rights at that moment."
        name="permission"
        defaultValue={rule?.permission ?? "write"}
        options={Object.entries(BY)}
      />
      <Field label="Bots that count as well" hint="Logins, separated by commas, such as renovate[bot]." name="bots">
        <Input defaultValue={rule?.bots.join(", ")} spellCheck={false} />
      </Field>
      <PipelineField label="Pipeline that runs" defaultValue={rule?.pipeline_id} />
      {event.startsWith("issue_") && (
        <Check
          name="pull_request"
          label="Open a pull request when the run succeeds"
          defaultChecked={rule?.pull_request ?? true}
        />
      )}
    </FormDialog>
  );
}
