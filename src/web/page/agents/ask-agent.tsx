/** The form that starts a chat or a piece of work: agent, project, model, and the message. */
import type { ApiPath } from "../../kit/change.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { lastChoice, rememberChoice } from "../../ui/choice.ts";
import { Field, InputField, TextArea } from "../../ui/field.tsx";
import type { Fields } from "../../ui/form.tsx";
import { AgentField, ModelField, ProjectField } from "../../ui/pickers.tsx";

interface Asked {
  agent_id: string;
  project_id?: string;
  model?: string;
  budget_usd?: number;
}

interface Props {
  title: string;
  /** The agent that is preselected. */
  agent?: string;
  words: { name: string; label: string; placeholder?: string; required?: boolean };
  withBudget?: boolean;
  /** Paths whose answers are different afterwards. */
  changes: ApiPath[];
  /** @param words as typed; may be empty. @returns a function to call instead of closing the dialog. */
  submit(asked: Asked, words: string): Promise<unknown>;
  onClose(): void;
}

function askedOf({ text, number, pickFilled }: Fields): Asked {
  const budget = number("budget_usd");
  return {
    agent_id: text("agent_id"),
    ...pickFilled("project_id", "model"),
    ...(budget === undefined ? {} : { budget_usd: budget }),
  };
}

export function AskAgent({ title, agent, words, withBudget = false, changes, submit, onClose }: Props) {
  return (
    <FormDialog
      title={title}
      word="Start"
      changes={changes}
      submit={(fields) => {
        const asked = askedOf(fields);
        rememberChoice("agent", asked.agent_id);
        return submit(asked, fields.text(words.name) ? fields.raw(words.name) : "");
      }}
      onClose={onClose}
    >
      <AgentField defaultValue={agent || lastChoice("agent")} />
      <Field label={words.label} name={words.name}>
        <TextArea name={words.name} rows={5} required={words.required} placeholder={words.placeholder} />
      </Field>
      <ProjectField hint="The agent then has its code graph." />
      <div className={withBudget ? "grid gap-x-3 sm:grid-cols-2" : ""}>
        <ModelField />
        {withBudget && (
          <InputField label="Budget, USD" name="budget_usd" type="number" min="0.01" step="0.01" inputMode="decimal" />
        )}
      </div>
    </FormDialog>
  );
}
