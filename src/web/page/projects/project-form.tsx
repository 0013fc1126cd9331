/** The form for a new or existing project. */

import { useLocation } from "wouter";
import { client, must, type Schemas } from "../../api/client.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { Field, Input, InputField, Select, TextAreaField } from "../../ui/field.tsx";
import type { Fields } from "../../ui/form.tsx";
import { TextLink } from "../../ui/link.tsx";
import { PipelineField } from "../../ui/pickers.tsx";

type Project = Schemas["Project"];

const bodyOf = ({ choice, text }: Fields) => ({
  name: text("name"),
  description: text("description"),
  repository: text("repository") || null,
  default_branch: text("default_branch") || null,
  default_pipeline_id: text("default_pipeline_id") || null,
  check: text("check") || null,
  scip_path: text("scip_path") || null,
  fetch_before_run: choice<Project["fetch_before_run"]>("fetch_before_run"),
});

interface AddProps {
  /** Initial values of the form. */
  name?: string | undefined;
  repository?: string;
  onClose(): void;
}

export function AddProject({ onClose, ...given }: AddProps) {
  const [, navigate] = useLocation();
  const submit = async (fields: Fields) => {
    const project = await must(client.POST("/v1/projects", { body: bodyOf(fields) }));
    return () => navigate(`/projects/${project.id}`);
  };
  return (
    <FormDialog title="Add a project" word="Add" changes={["/v1/projects"]} submit={submit} onClose={onClose}>
      <ProjectFields project={given} />
    </FormDialog>
  );
}

export function EditProject({ project, onClose }: { project: Project; onClose(): void }) {
  const submit = async (fields: Fields) => {
    const body = { ...bodyOf(fields), status: fields.choice<Project["status"]>("status") };
    await must(client.PUT("/v1/projects/{id}", { params: { path: { id: project.id } }, body }));
  };
  return (
    <FormDialog title={`Edit ${project.name}`} word="Save" changes={["/v1/projects"]} submit={submit} onClose={onClose}>
      <ProjectFields project={project} />
      <Field label="State">
        <Select name="status" defaultValue={project.status}>
          <option value="active">active</option>
          <option value="paused">paused</option>
          <option value="archived">archived</option>
        </Select>
      </Field>
    </FormDialog>
  );
}

const NEW_REPOSITORY = (
  <>
    Its address, as “Clone” shows it at your code host: https or ssh, without credentials. A private one is reached by
    connecting the <TextLink href="/code-host">code host</TextLink>. Left empty, the project begins with an empty
    repository.
  </>
);

function ProjectFields({ project }: { project: Partial<Project> }) {
  const known = project.id !== undefined;
  return (
    <>
      <InputField label="Name" name="name" required autoFocus defaultValue={project.name} />
      <Field label="Repository" hint={known ? "A new address is cloned again." : NEW_REPOSITORY} name="repository">
        <Input defaultValue={project.repository ?? ""} placeholder="https://example.org/web.git" spellCheck={false} />
      </Field>
      <Field label="Branch" hint="Left empty: the repository's own." name="default_branch">
        <Input defaultValue={project.default_branch ?? ""} spellCheck={false} />
      </Field>
      <PipelineField
        name="default_pipeline_id"
        label="Pipeline used first"
        none="None"
        defaultValue={project.default_pipeline_id}
      />
      <TextAreaField label="Description" name="description" rows={2} defaultValue={project.description} />
      <Field label="Check" hint="Command whose exit code says whether the code works, e.g. npm test." name="check">
        <Input defaultValue={project.check ?? ""} spellCheck={false} />
      </Field>
      <Field
        label="SCIP index"
        hint="A file of the repository in which a compiler says what calls what, e.g. index.scip. The code graph takes its calls as exact."
        name="scip_path"
      >
        <Input defaultValue={project.scip_path ?? ""} spellCheck={false} />
      </Field>
      <Field label="Before a run, what is new is" name="fetch_before_run">
        <Select defaultValue={project.fetch_before_run ?? "try"}>
          <option value="try">fetched where the repository answers</option>
          <option value="require">fetched, or the run fails</option>
          <option value="never">not fetched</option>
        </Select>
      </Field>
    </>
  );
}
