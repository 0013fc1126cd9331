/** Log-in: password, second factor, sign-on through a provider. */
import { type FormEvent, type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { api, client, fieldError, must, onItsMachine, type Schemas, siteUrl } from "../../api/client.ts";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { Field, Input, InputField } from "../../ui/field.tsx";
import { fieldsOf } from "../../ui/form.tsx";
import { Loading, Warning } from "../../ui/note.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { SignOnButton } from "./sign-on-button.tsx";

interface Props {
  /** Set if the session ended while a page was open. That page is still open below this dialog. */
  again?: boolean;
  onDone(): Promise<void>;
}

type Step = { kind: "password" } | { kind: "code"; pending: string } | { kind: "recovery"; pending: string };

export function LoginPage({ again = false, onDone }: Props) {
  const [, navigate] = useLocation();
  const status = api.useQuery("get", "/v1/status", undefined, { staleTime: 0 });
  if (status.data?.setup_required)
    return (
      <FirstAdministrator
        onDone={async () => {
          navigate("/setup", { replace: true });
          await onDone();
        }}
      />
    );
  // Which form is needed must be known before anybody types into it.
  if (status.isPending && !again)
    return (
      <Card title="Skep">
        <Loading />
      </Card>
    );
  return <LogIn again={again} onDone={onDone} />;
}

function LogIn({ again, onDone }: Required<Props>) {
  const [step, setStep] = useState<Step>({ kind: "password" });
  const { busy, error, run } = useAction();
  const attempt = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { text, raw } = fieldsOf(event.currentTarget);
    void run(async () => {
      if (step.kind === "password") {
        const body = { email: text("email"), password: raw("password"), session: "cookie" as const };
        const answer = await must(client.POST("/v1/auth/login", { body }));
        if ("two_factor_required" in answer) return setStep({ kind: "code", pending: answer.pending_token });
      } else {
        const second =
          step.kind === "code" ? { code: text("code").replace(/\s/g, "") } : { recovery_code: text("code") };
        const body = { pending_token: step.pending, session: "cookie" as const, ...second };
        await must(client.POST("/v1/auth/login/2fa", { body }));
      }
      await onDone();
    });
  };
  return (
    <Card title={again ? "Log in again" : "Log in"} within={again}>
      {again && <p className="mb-3 text-dim">Your log-in ended. What you had open is still there.</p>}
      <PlainHttp />
      <form onSubmit={attempt}>
        {step.kind === "password" ? (
          <>
            <Field label="E-mail" error={fieldError(error, "email")}>
              <Input name="email" type="email" autoComplete="username" required autoFocus />
            </Field>
            <Field label="Password" error={fieldError(error, "password")}>
              <Input name="password" type="password" autoComplete="current-password" required />
            </Field>
          </>
        ) : (
          <InputField
            key={step.kind}
            label={step.kind === "code" ? "Code of your authenticator" : "Recovery code"}
            hint={step.kind === "code" ? "Six digits." : "Each works once."}
            name="code"
            autoComplete="one-time-code"
            inputMode={step.kind === "code" ? "numeric" : "text"}
            required
            autoFocus
          />
        )}
        <ProblemNote error={error} />
        <Button type="submit" kind="primary" busy={busy} className="mt-1 w-full">
          {step.kind === "password" ? "Log in" : "Verify"}
        </Button>
        {step.kind !== "password" && (
          <Button
            label={step.kind === "code" ? "Use a recovery code" : "Use the authenticator"}
            kind="quiet"
            className="mt-2 w-full"
            onClick={() => setStep({ ...step, kind: step.kind === "code" ? "recovery" : "code" })}
          />
        )}
      </form>
      {step.kind === "password" && <SignOn />}
    </Card>
  );
}

/** Buttons of the sign-on providers. Their addresses lead back to the requested page. */
function SignOn() {
  const { data } = api.useQuery("get", "/v1/auth/oidc");
  const providers = data?.items ?? [];
  if (providers.length === 0) return null;
  const back = encodeURIComponent(location.pathname.slice(siteUrl("/").length - 1) + location.search);
  return (
    <div className="mt-4 border-t border-line pt-4">
      {providers.map(({ slug, name, button }) => (
        <div key={slug} className="mb-2">
          <SignOnButton name={name} look={button} href={siteUrl(`/v1/auth/oidc/${slug}/authorize?return_to=${back}`)} />
        </div>
      ))}
    </div>
  );
}

/**
 * The first start of a server that others can reach: whoever has the setup token from its log can create the first
 * account.
 */
function FirstAdministrator({ onDone }: { onDone(): Promise<void> }) {
  const { busy, error, run } = useAction();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { text, raw, pickFilled } = fieldsOf(event.currentTarget);
    void run(async () => {
      const body: Schemas["CreateSetupBody"] = {
        email: text("email"),
        password: raw("password"),
        session: "cookie",
        ...pickFilled("display_name", "setup_token"),
      };
      await must(client.POST("/v1/auth/setup", { body }));
      await onDone();
    });
  };
  return (
    <Card title="Welcome to Skep">
      <p className="mb-4 text-dim">Nobody has set this server up yet. Make the first administrator.</p>
      <PlainHttp />
      <form onSubmit={submit}>
        <Field label="E-mail" error={fieldError(error, "email")}>
          <Input name="email" type="email" autoComplete="username" required autoFocus />
        </Field>
        <Field label="Your name" error={fieldError(error, "display_name")}>
          <Input name="display_name" autoComplete="name" />
        </Field>
        <Field label="Password" hint="At least ten characters." error={fieldError(error, "password")}>
          <Input name="password" type="password" autoComplete="new-password" minLength={10} required />
        </Field>
        <Field
          label="Setup token"
          hint={
            <>
              The server printed it at its start, and keeps it in the file <code>setup-token</code> of its data folder.
              Where only this machine reaches the server, none is needed.
            </>
          }
          error={fieldError(error, "setup_token")}
        >
          <Input name="setup_token" autoComplete="off" spellCheck={false} placeholder="skst_…" className="font-mono" />
        </Field>
        <ProblemNote error={error} />
        <Button label="Make the account" type="submit" kind="primary" busy={busy} className="mt-1 w-full" />
      </form>
    </Card>
  );
}

function PlainHttp() {
  if (location.protocol === "https:" || onItsMachine()) return null;
  return <Warning>This page came over plain http: others in the network can read what you type.</Warning>;
}

/** @param within whether it is in a dialog over a page, which already has the main landmark. */
function Card({ title, within = false, children }: { title: string; within?: boolean; children: ReactNode }) {
  const Landmark = within ? "div" : "main";
  return (
    <Landmark className="flex min-h-dvh items-start justify-center px-4 pt-[14dvh] pb-8">
      <div className="w-full max-w-sm">
        <svg aria-hidden="true" viewBox="0 0 32 32" className="mb-3 size-9 text-accent">
          <g fill="none" stroke="currentColor" strokeWidth="3.2" strokeLinecap="round">
            <path d="M12 6.5h8M9 13h14M6.8 19.5h18.4M6 26h20" />
          </g>
        </svg>
        <h1 className="mb-4 text-2xl font-semibold tracking-tight">{title}</h1>
        {children}
      </div>
    </Landmark>
  );
}
