/** One step of a pipeline as a form. What is chosen here is written into the text beside it. */
import { Trash2 } from "lucide-react";
import { useState } from "react";
import type { Schemas } from "../../api/client.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { Button } from "../../ui/button.tsx";
import { Field, Input, Select, SelectField, TextArea } from "../../ui/field.tsx";
import type { Fields } from "../../ui/form.tsx";
import { AgentField, ModelField } from "../../ui/pickers.tsx";
import { addStep, changeStep, readStep, removeStep, type StepChange } from "./step-text.ts";

type StepPlan = Schemas["StepPlan"];
type Kind = "agent" | "command" | "approval";

interface Props {
  /** Text of the whole pipeline. */
  source: string;
  steps: StepPlan[];
  /** Id of the step; empty for a new one. */
  id: string;
  onChange(source: string): void;
  onClose(): void;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

const KINDS: [Kind, string][] = [
  ["agent", "An agent does it"],
  ["command", "A command runs"],
  ["approval", "A person is asked"],
];

export function StepForm({ source, steps, id, onChange, onClose }: Props) {
  const stored = readStep(source, id) ?? {};
  const plan = steps.find((one) => one.id === id);
  const [kind, setKind] = useState<Kind>(plan ? kindOf(plan.kind) : "agent");
  const submit = async (fields: Fields) => {
    const change = changeOf(fields, { kind, steps, id, stored });
    onChange(id ? changeStep(source, id, change) : addStep(source, { id: fields.text("id"), ...change }));
  };
  const others = steps.filter((one) => one.id !== id);
  return (
    <FormDialog
      title={plan ? `Step ${plan.name}` : "New step"}
      word={plan ? "Write it" : "Add"}
      submit={submit}
      onClose={onClose}
    >
      {!plan && (
        <div className="grid gap-x-3 sm:grid-cols-2">
          <Field label="Id" name="id" hint="Small letters, digits and hyphens.">
            <Input required pattern="[a-z0-9][a-z0-9\-]{0,63}" autoFocus />
          </Field>
          <SelectField label="Kind" value={kind} onPick={setKind} options={KINDS} />
        </div>
      )}
      <Field label="Name" name="name" hint="Shown to people. Without one the id is shown.">
        <Input defaultValue={textOf(stored["name"])} maxLength={256} />
      </Field>
      {kind === "agent" && <AgentFields stored={stored} />}
      {kind === "command" && (
        <Field label="Command" name="run" hint="Runs in the sandbox's shell.">
          <TextArea rows={3} required defaultValue={textOf(stored["run"])} className="font-mono" />
        </Field>
      )}
      {kind === "approval" && (
        <Field label="What is asked" name="message">
          <TextArea
            rows={4}
            required
            defaultValue={isObject(stored["approval"]) ? textOf(stored["approval"]["message"]) : ""}
          />
        </Field>
      )}
      {others.length > 0 && <Needs others={others} chosen={plan?.needs ?? steps.slice(-1).map((one) => one.id)} />}
      <div className="grid gap-x-3 sm:grid-cols-2">
        <Field label="Only when" name="when" hint="A condition; without it always.">
          <Input defaultValue={textOf(stored["when"])} className="font-mono" />
        </Field>
        <FailureField kind={kind} value={stored["on_failure"]} others={others} />
      </div>
      {plan && steps.length > 1 && (
        <Button
          label="Remove the step"
          kind="danger"
          icon={Trash2}
          onClick={() => {
            onChange(removeStep(source, id));
            onClose();
          }}
        />
      )}
    </FormDialog>
  );
}

const kindOf = (kind: StepPlan["kind"]): Kind => (kind === "command" || kind === "approval" ? kind : "agent");

function AgentFields({ stored }: { stored: Record<string, unknown> }) {
  const outputs = Array.isArray(stored["outputs"]) ? stored["outputs"].map(String).join(", ") : "";
  return (
    <>
      <AgentField name="agent" defaultValue={textOf(stored["agent"])} none="Choose an agent" required />
      <Field label="What it is asked" name="input" hint="With {{ task_description }} and other variables.">
        <TextArea rows={6} required defaultValue={textOf(stored["input"])} className="font-mono" />
      </Field>
      <div className="grid gap-x-3 sm:grid-cols-2">
        <Field label="Outputs" name="outputs" hint="Names, with commas between them.">
          <Input defaultValue={outputs} className="font-mono" />
        </Field>
        <ModelField defaultValue={textOf(stored["model"])} />
      </div>
    </>
  );
}

function Needs({ others, chosen }: { others: StepPlan[]; chosen: readonly string[] }) {
  return (
    <fieldset className="mb-3">
      <legend className="mb-1 text-sm font-medium">Begins after</legend>
      <div className="flex max-h-32 flex-wrap gap-x-4 overflow-y-auto">
        {others.map(({ id, name }) => (
          <label key={id} className="inline-flex min-h-7 items-center gap-1.5 max-sm:min-h-11">
            <input
              type="checkbox"
              name={`needs:${id}`}
              defaultChecked={chosen.includes(id)}
              className="size-4 accent-accent"
            />
            {name}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** Prefix of the value for a failure that leads back to a step; the step's id follows. */
const GOTO = "goto:";

function FailureField({ kind, value, others }: { kind: Kind; value: unknown; others: StepPlan[] }) {
  const target = isObject(value) ? textOf(value["goto"]) : "";
  return (
    <Field label={kind === "approval" ? "When it is refused" : "When it fails"} name="on_failure">
      <Select
        defaultValue={target ? GOTO + target : textOf(value)}
        options={others.map(({ id, name }) => [GOTO + id, `Back to ${name}`])}
      >
        <option value="">The run fails</option>
        {kind !== "approval" && <option value="retry">It is tried again</option>}
        <option value="continue">The run continues</option>
      </Select>
    </Field>
  );
}

interface Context {
  kind: Kind;
  steps: StepPlan[];
  id: string;
  stored: Record<string, unknown>;
}

/** The members that the form changes. Unchanged members keep their text. */
function changeOf(fields: Fields, { kind, steps, id, stored }: Context): StepChange {
  const at = id ? steps.findIndex((one) => one.id === id) : steps.length;
  const needs = steps.filter((one) => fields.isChecked(`needs:${one.id}`)).map((one) => one.id);
  const usual = at > 0 ? [steps[at - 1]!.id] : [];
  const isUsual = stored["needs"] === undefined && JSON.stringify(needs) === JSON.stringify(usual);
  const failure = fields.text("on_failure");
  const before = isObject(stored["on_failure"]) ? stored["on_failure"] : {};
  const own: StepChange =
    kind === "agent"
      ? {
          agent: fields.text("agent"),
          input: fields.raw("input").replaceAll("\r\n", "\n"),
          outputs: listOf(fields.text("outputs")),
          model: fields.text("model"),
        }
      : kind === "command"
        ? { run: fields.raw("run").replaceAll("\r\n", "\n") }
        : {
            approval: {
              ...(isObject(stored["approval"]) ? stored["approval"] : {}),
              message: fields.raw("message").replaceAll("\r\n", "\n"),
            },
          };
  return {
    name: fields.text("name"),
    ...own,
    ...(isUsual ? {} : { needs }),
    when: fields.text("when"),
    on_failure: failure.startsWith(GOTO) ? { ...before, goto: failure.slice(GOTO.length) } : failure,
  };
}

const listOf = (text: string): string[] | undefined => {
  const names = text.split(/[,\s]+/).filter(Boolean);
  return names.length > 0 ? names : undefined;
};
