/** A project as a file: export it for another server, or import one. */
import { Download, PackageOpen } from "lucide-react";
import { useLocation } from "wouter";
import { client, must, type Schemas, siteUrl, toMultipart } from "../../api/client.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { useAdmin } from "../../session/session.tsx";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { Check, Field, Input, InputField } from "../../ui/field.tsx";
import { notify } from "../../ui/notice.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";

export function ExportProject({ project: { id, name } }: { project: Schemas["Project"] }) {
  const action = useAction();
  const save = () =>
    action.run(async () => {
      const answer = await fetch(siteUrl(`/v1/projects/${id}/export`), {
        method: "POST",
        credentials: "same-origin",
        headers: { "Content-Type": "application/json" },
        body: "{}",
      });
      if (!answer.ok) throw await answer.json();
      const address = URL.createObjectURL(await answer.blob());
      const link = document.createElement("a");
      link.href = address;
      link.download = `${name.replaceAll(/[^\p{L}\p{N}._-]+/gu, "-")}.skep.tar.gz`;
      link.click();
      URL.revokeObjectURL(address);
    });
  return (
    <>
      <Button
        label="Export"
        busy={action.busy}
        icon={Download}
        title="Its settings, board and policy as a file, for another server"
        onClick={() => void save()}
      />
      <ProblemNote error={action.error} />
    </>
  );
}

export function ImportProject({ onClose }: { onClose(): void }) {
  const [, navigate] = useLocation();
  const admin = useAdmin();
  return (
    <FormDialog
      title="Import a project"
      word="Import"
      changes={["/v1/projects", "/v1/jobs"]}
      submit={async ({ all, text, raw, isChecked }) => {
        const form = all();
        if (text("name")) form.set("name", text("name"));
        else form.delete("name");
        if (!raw("passphrase")) form.delete("passphrase");
        form.set("trusted", isChecked("trusted") ? "true" : "false");
        const { project, tasks, notices } = await must(client.POST("/v1/project-imports", toMultipart(form)));
        return () => {
          notify([`${project.name} is yours. Its ${tasks} tasks are being made.`, ...notices].join(" "));
          navigate(`/projects/${project.id}`);
        };
      }}
      onClose={onClose}
    >
      <p className="mb-3 text-dim">
        You own the project, and you alone see it until you open it to others. Its repository is cloned from the address
        in the archive.
      </p>
      <Field label="File" hint="What Export wrote." name="file">
        <Input type="file" required accept=".gz,.tgz" className="py-1.5" />
      </Field>
      <InputField label="Name" hint="Left empty: the one in the file." name="name" />
      {admin && (
        <Field label="Passphrase" hint="Where the file holds secrets. Left empty: they are left out." name="passphrase">
          <Input type="password" autoComplete="off" />
        </Field>
      )}
      <Check
        name="trusted"
        label="I know who wrote it"
        hint="Otherwise its words are shown to agents as text from outside until somebody confirms them."
      />
    </FormDialog>
  );
}

export const ImportButton = ({ open }: { open(): void }) => <Button label="Import" icon={PackageOpen} onClick={open} />;
