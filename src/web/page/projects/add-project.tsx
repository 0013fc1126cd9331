/** A project that is added: its name, where its code is. */
import { Link, useLocation } from "wouter";
import { client, fieldError, must } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { useAction } from "../../ui/action.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Input, TextArea } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { PipelineField } from "../../ui/pickers.tsx";

interface Props {
  /** What the form is filled with. */
  name?: string | undefined;
  repository?: string;
  onClose(): void;
}

export function AddProject({ name, repository, onClose }: Props) {
  const action = useAction();
  const [, navigate] = useLocation();
  return (
    <Dialog title="Add a project" onClose={onClose}>
      <Form
        action={action}
        word="Add"
        onCancel={onClose}
        submit={async ({ text }) => {
          const body = {
            name: text("name"),
            description: text("description"),
            repository: text("repository") || null,
            default_branch: text("default_branch") || null,
            default_pipeline_id: text("default_pipeline_id") || null,
          };
          const project = await must(client.POST("/v1/projects", { body }));
          void refresh("/v1/projects");
          navigate(`/projects/${project.id}`);
        }}
      >
        <Field label="Name" error={fieldError(action.error, "name")}>
          <Input name="name" required autoFocus defaultValue={name} />
        </Field>
        <Field
          label="Repository"
          hint={
            <>
              Its address, as “Clone” shows it at your code host: https or ssh, without credentials. A private one is
              reached by connecting the{" "}
              <Link href="/code-host" className="underline">
                code host
              </Link>
              . Left empty, the project begins with an empty repository.
            </>
          }
          error={fieldError(action.error, "repository")}
        >
          <Input
            name="repository"
            defaultValue={repository}
            placeholder="https://example.org/web.git"
            spellCheck={false}
          />
        </Field>
        <Field
          label="Branch"
          hint="Left empty: the repository's own."
          error={fieldError(action.error, "default_branch")}
        >
          <Input name="default_branch" spellCheck={false} />
        </Field>
        <PipelineField name="default_pipeline_id" label="Pipeline used first" none="None" error={action.error} />
        <Field label="Description" error={fieldError(action.error, "description")}>
          <TextArea name="description" rows={2} />
        </Field>
      </Form>
    </Dialog>
  );
}
