/** Two-factor verification: a code to scan, a code to confirm, and recovery codes that are shown once. */

import { useState } from "react";
import { client, must, type Schemas } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { useMe } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { Field, Input, InputField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Warning } from "../../ui/note.tsx";
import { CopyButton, Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";

export function SecondFactor() {
  const me = useMe();
  const action = useChange("/v1/auth/me");
  const [started, setStarted] = useState<Schemas["Enable2faAnswer"]>();
  const [codes, setCodes] = useState<string[]>();
  const begin = () => action.run(async () => setStarted(await must(client.POST("/v1/auth/2fa/enable"))));
  return (
    <Section title="Two-factor verification" panel>
      {codes ? (
        <RecoveryCodes codes={codes} />
      ) : me.two_factor_enabled ? (
        <SwitchOff />
      ) : started ? (
        <Form
          action={action}
          word="Confirm"
          onCancel={() => setStarted(undefined)}
          submit={async ({ text }) => {
            const body = { code: text("code").replace(/\s/g, "") };
            const answer = await must(client.POST("/v1/auth/2fa/verify", { body }));
            setCodes(answer.recovery_codes);
          }}
        >
          <div className="mb-3 flex flex-wrap items-center gap-4">
            <img
              alt="QR code for your authenticator"
              src={`data:image/svg+xml,${encodeURIComponent(started.qr_svg)}`}
              className="size-40 rounded bg-[#fff] p-2"
            />
            <div className="min-w-0 flex-1 basis-52">
              <p className="mb-2">Scan this with an authenticator, or type the secret into it:</p>
              <code className="font-mono text-sm">{started.secret}</code> <CopyButton text={started.secret} />
            </div>
          </div>
          <Field label="The code it shows" name="code">
            <Input inputMode="numeric" autoComplete="one-time-code" required autoFocus />
          </Field>
        </Form>
      ) : (
        <>
          <p className="mb-3 text-dim">
            Off. With it, a log-in asks for a code of your authenticator beside the password.
          </p>
          <ProblemNote error={action.error} />
          <Button label="Switch on" kind="primary" busy={action.busy} onClick={begin} />
        </>
      )}
    </Section>
  );
}

const RecoveryCodes = ({ codes }: { codes: string[] }) => (
  <>
    <Warning>Keep these recovery codes. Each works once in the place of a code; they are not shown again.</Warning>
    <pre className="my-2 columns-2 font-mono">{codes.join("\n")}</pre>
    <CopyButton text={codes.join("\n")} label="Copy the codes" />
  </>
);

function SwitchOff() {
  const action = useChange("/v1/auth/me");
  return (
    <Form
      action={action}
      word="Switch off"
      submit={async ({ raw, text }) => {
        const code = text("code").replace(/\s/g, "");
        const body = { password: raw("password"), ...(/^\d{6}$/.test(code) ? { code } : { recovery_code: code }) };
        await must(client.POST("/v1/auth/2fa/disable", { body }));
      }}
    >
      <p className="mb-3">It is on.</p>
      <InputField label="Password" name="password" type="password" autoComplete="current-password" required />
      <Field label="Code" hint="Of the authenticator, or a recovery code." name="code">
        <Input autoComplete="one-time-code" required />
      </Field>
    </Form>
  );
}
