/** Set up, step by step: administrator, model, a first run. Each can be left out and done later. */
import { ArrowRight } from "lucide-react";
import type { ReactNode } from "react";
import { api, client, must } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { useAdmin } from "../../shell/session.tsx";
import { useAction } from "../../ui/action.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { plural } from "../../ui/format.ts";
import { Await, Empty, ProblemNote } from "../../ui/note.tsx";
import { PageHeader, Panel } from "../../ui/page.tsx";
import { FirstSteps } from "../home/first-steps.tsx";

export default function SetupPage() {
  const admin = useAdmin();
  if (!admin) return <Empty>Only an administrator sets a server up.</Empty>;
  return (
    <div className="max-w-3xl">
      <PageHeader title="Set up" about="Three steps. Each can be left out and done later." />
      <FindOllama />
      <FirstSteps />
    </div>
  );
}

/** Ollama needs no key: where it answers on this machine, one press makes it the default. */
function FindOllama() {
  const action = useAction();
  const params = { path: { id: "ollama" } };
  const trial = api.useQuery(
    "post",
    "/v1/settings/providers/{id}/test",
    { params, body: {} },
    { staleTime: 60_000, retry: false },
  );
  return (
    <Await query={trial} rows={1}>
      {({ ok, models }) =>
        ok && models.length > 0 ? (
          <Note>
            Ollama answers on this machine, with {plural(models.length, "model")}.
            <ProblemNote error={action.error} />
            <Button
              kind="primary"
              busy={action.busy}
              onClick={() =>
                action.run(async () => {
                  const model = models[0]!;
                  const id = model.id.startsWith("ollama/") ? model.id : `ollama/${model.id}`;
                  await must(
                    client.PUT("/v1/settings/providers/{id}", { params, body: { enabled: true, default: id } }),
                  );
                  await refresh("/v1/models", "/v1/settings");
                })
              }
            >
              Use {models[0]?.name}
            </Button>
          </Note>
        ) : (
          <Note>
            Ollama was not found on this machine. Add a key of a hosted provider, or the address of a server of yours.
            <ButtonLink href="/providers" kind="primary">
              Model providers
              <ArrowRight aria-hidden size={14} />
            </ButtonLink>
          </Note>
        )
      }
    </Await>
  );
}

const Note = ({ children }: { children: ReactNode }) => (
  <Panel className="mb-4 flex flex-wrap items-center justify-between gap-3 p-4">{children}</Panel>
);
