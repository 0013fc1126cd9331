/** Tests whether a rule would start a run for an issue or pull request. It starts nothing. */
import { useState } from "react";
import { client, must, type Schemas } from "../../api/client.ts";
import { FormDialog, stay } from "../../kit/form-dialog.tsx";
import { Field, Input, InputField } from "../../ui/field.tsx";
import { TextLink } from "../../ui/link.tsx";

export function TryDialog({ rule, onClose }: { rule: Schemas["CodeHostRule"]; onClose(): void }) {
  const [trial, setTrial] = useState<Schemas["CodeHostTrial"]>();
  const pull = rule.event.startsWith("pull_request");
  return (
    <FormDialog
      title={`Try ${rule.name}`}
      word="Try"
      onClose={onClose}
      before={
        <p className="mb-3 text-dim">The host is asked about {rule.repository}. Nothing is started or written.</p>
      }
      submit={async ({ number, pickFilled }) => {
        setTrial(undefined);
        const body = { number: number("number") ?? 0, ...pickFilled("actor", "comment") };
        setTrial(await must(client.POST("/v1/codehost/rules/{id}/try", { params: { path: { id: rule.id } }, body })));
        return stay;
      }}
    >
      <Field label={pull ? "Number of the pull request" : "Number of the issue"} name="number">
        <Input type="number" min={1} required inputMode="numeric" />
      </Field>
      <Field label="Who does it" hint="A login on the host. Left empty: the person who opened it." name="actor">
        <Input spellCheck={false} />
      </Field>
      {rule.event === "issue_comment" && (
        <InputField label="What the comment says" name="comment" defaultValue={rule.command ?? ""} />
      )}
      {trial && (
        <div role="status" className={`mb-3 rounded-md px-3 py-2 ${trial.starts ? "bg-ok-soft" : "bg-wait-soft"}`}>
          <p className="font-medium">
            {trial.starts ? "Yes" : "No"}: {trial.detail}
          </p>
          <p className="text-sm">
            <a href={trial.url} target="_blank" rel="noreferrer" className="underline">
              {trial.title}
            </a>
            , done by {trial.actor}
            {trial.run_id && (
              <>
                {" · "}
                <TextLink href={`/runs/${trial.run_id}`}>the run</TextLink>
              </>
            )}
          </p>
        </div>
      )}
    </FormDialog>
  );
}
