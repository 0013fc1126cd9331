/** The set-up in three steps: an administrator, a model, a first run. The last two can be skipped. */
import { CircleCheck, CircleDashed } from "lucide-react";
import type { ReactNode } from "react";
import { api } from "../../api/client.ts";
import { useAdmin, useMe } from "../../session/session.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { Empty } from "../../ui/note.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { ChooseModel } from "./choose-model.tsx";
import { ExampleRun } from "./example-run.tsx";
import { useModelInUse } from "./model-in-use.ts";

export default function SetupPage() {
  if (useAdmin()) return <Steps />;
  return (
    <>
      <PageHeader title="Set up" cli="skep init" />
      <Empty action={<ButtonLink href="/">Go to your home page</ButtonLink>}>
        Only an administrator sets a server up. Ask yours for what is missing.
      </Empty>
    </>
  );
}

function Steps() {
  const me = useMe();
  const example = api.useQuery("get", "/v1/runs", {
    params: { query: { pipeline_id: "hello", status: "succeeded", limit: 1 } },
  });
  const hasModel = useModelInUse();
  const hasRun = (example.data?.items.length ?? 0) > 0;
  return (
    <div className="max-w-3xl">
      <PageHeader
        title="Set up"
        cli="skep init"
        about="Three steps. The second and third can be left out and done later."
        actions={<ButtonLink label={hasRun ? "To Home" : "Later"} href="/" kind={hasRun ? "primary" : "quiet"} />}
      />
      <ol className="overflow-hidden rounded-lg border border-line bg-panel">
        <Step number={1} title="An administrator" done>
          <p className="text-dim">
            {me.session.kind === "user"
              ? `You are logged in as ${me.email}. A second factor is switched on under My account.`
              : "Only this machine reaches the server, so no log-in is asked for, and you may do everything."}
          </p>
        </Step>
        <Step number={2} title="A model for the agents" done={hasModel}>
          <ChooseModel />
        </Step>
        <Step number={3} title="A first run" done={hasRun}>
          <ExampleRun />
        </Step>
      </ol>
    </div>
  );
}

interface StepProps {
  number: number;
  title: string;
  done: boolean;
  children: ReactNode;
}

function Step({ number, title, done, children }: StepProps) {
  const Icon = done ? CircleCheck : CircleDashed;
  return (
    <li className="flex gap-3 border-b border-line px-4 py-4 last:border-0">
      <Icon aria-hidden size={18} className={`mt-0.5 shrink-0 ${done ? "text-ok" : "text-faint"}`} />
      <section aria-labelledby={`setup-${number}`} className="min-w-0 flex-1">
        <h2 id={`setup-${number}`} className="mb-1 font-semibold">
          {number}. {title}
          {done && <span className="sr-only"> (done)</span>}
        </h2>
        {children}
      </section>
    </li>
  );
}
