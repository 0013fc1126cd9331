/** The form for a new or existing routine. */

import { useState } from "react";
import { useLocation } from "wouter";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { Check, Field, Input, InputField, TextArea } from "../../ui/field.tsx";
import type { Fields } from "../../ui/form.tsx";
import { AgentField, ModelField, ProjectField } from "../../ui/pickers.tsx";
import { ScheduleField, timesOf, type When, whenOf } from "./schedule-field.tsx";

type Routine = Schemas["PulseRoutine"];
const many = { params: { query: { limit: 200 } } };

const bodyOf = ({ text, raw, number, isChecked, words }: Fields, when: When) => ({
  ...when,
  name: text("name"),
  instructions: raw("instructions"),
  description: text("description") || null,
  project_id: text("project_id") || null,
  model: text("model") || null,
  tools: text("tools") ? words("tools") : null,
  timeout_seconds: number("timeout_seconds") ?? null,
  max_concurrent: number("max_concurrent") ?? 1,
  enabled: isChecked("enabled"),
});

interface Props {
  /** The routine to change; undefined for a new one. */
  routine?: Routine;
  /** Initial agent of a new routine. */
  agent?: string;
  onClose(): void;
}

export function RoutineDialog({ routine, agent: first = "", onClose }: Props) {
  const [, navigate] = useLocation();
  const [times, setTimes] = useState(() => timesOf(routine));
  const [chosen, setAgent] = useState(routine?.agent_id ?? first);
  const agents = api.useQuery("get", "/v1/agents", many);
  const options = agents.data?.items ?? [];
  const agent = chosen || (options.find(({ enabled }) => enabled)?.id ?? "");
  const save = async (fields: Fields) => {
    const body = bodyOf(fields, whenOf(times));
    const path = { agent_id: agent };
    const saved = routine
      ? await must(
          client.PUT("/v1/pulse-routines/{agent_id}/{id}", { params: { path: { ...path, id: routine.id } }, body }),
        )
      : await must(client.POST("/v1/pulse-routines/{agent_id}", { params: { path }, body }));
    return routine ? onClose : () => navigate(`/routines/${saved.agent_id}/${saved.id}`);
  };
  return (
    <FormDialog
      title={routine ? "Change the routine" : "New routine"}
      word={routine ? "Save" : "Create"}
      changes={["/v1/pulse-routines"]}
      submit={save}
      onClose={onClose}
    >
      <Field label="Name" name="name">
        <Input required maxLength={100} defaultValue={routine?.name} placeholder="Morning round" />
      </Field>
      <AgentField
        hint={routine && "A routine stays with its agent."}
        disabled={routine !== undefined}
        defaultValue={agent}
        onPick={setAgent}
      />
      <Field label="Instructions" hint="What the agent reads each time." name="instructions">
        <TextArea rows={4} required defaultValue={routine?.instructions} />
      </Field>
      <ScheduleField agent={agent} times={times} onChange={setTimes} />
      <More routine={routine} />
      <Check name="enabled" label="Switched on" defaultChecked={routine?.enabled ?? true} />
    </FormDialog>
  );
}

/** Options that most routines leave at their defaults. */
function More({ routine }: { routine: Routine | undefined }) {
  return (
    <details className="mb-3">
      <summary className="min-h-6 text-sm font-medium text-dim">Project, model, tools, limits</summary>
      <div className="mt-2">
        <ProjectField hint="It works in this project's files." defaultValue={routine?.project_id} />
        <ModelField defaultValue={routine?.model} />
        <Field label="Tools" hint="Limits it to some of the agent's tools; left empty: all of them." name="tools">
          <Input defaultValue={routine?.tools?.join(", ")} placeholder="read, grep" spellCheck={false} />
        </Field>
        <div className="grid grid-cols-2 gap-3">
          <Field label="Seconds at most" name="timeout_seconds">
            <Input type="number" min={1} defaultValue={routine?.timeout_seconds ?? ""} />
          </Field>
          <Field label="At once" name="max_concurrent">
            <Input type="number" min={1} max={8} defaultValue={routine?.max_concurrent ?? 1} />
          </Field>
        </div>
        <InputField label="Description" name="description" defaultValue={routine?.description ?? ""} />
      </div>
    </details>
  );
}
