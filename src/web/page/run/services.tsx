/** The services of the project's environment that run beside a run: the state of each, and why one cannot be used. */
import { Database } from "lucide-react";
import { api, type Schemas } from "../../api/client.ts";

type Logged = Schemas["LoggedEvent"];

const WORDS: Readonly<Record<string, string>> = {
  starting: "is being started",
  healthy: "is healthy",
  ended: "ended by itself and is started again",
  failed: "cannot be used",
};

/** Renders nothing if the run has no services, or if it has ended and none had a problem. */
export function RunServices({ runId, ended }: { runId: string; ended: boolean }) {
  const { data } = api.useQuery("get", "/v1/events", {
    params: { query: { run_id: runId, kinds: "service_changed", limit: 100 } },
  });
  const services = lastOfEach(data?.items ?? []).filter(({ state }) => !ended || state === "failed");
  if (services.length === 0) return null;
  return (
    <section aria-label="Services" className="mb-4 rounded-lg border border-line px-4 py-3">
      <ul className="flex flex-col gap-2">
        {services.map(({ name, state, detail }) => (
          <li key={name}>
            <p className="flex flex-wrap items-center gap-x-3">
              <Database aria-hidden size={14} className="shrink-0" />
              <span className="min-w-0 break-words">
                The service <span className="font-mono">{name}</span> {WORDS[state] ?? state}.
              </span>
            </p>
            {detail !== "" && <p className="mt-1 whitespace-pre-wrap break-words text-sm text-dim">It {detail}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The latest state of each service, with the latest detail that any of its events has. @param items newest first. */
function lastOfEach(items: readonly Logged[]): { name: string; state: string; detail: string }[] {
  const found = new Map<string, { name: string; state: string; detail: string }>();
  for (const { data } of items) {
    const [name, state, detail] = [textOf(data, "service"), textOf(data, "state"), textOf(data, "detail")];
    const newer = found.get(name);
    if (!newer) found.set(name, { name, state, detail });
    else if (newer.detail === "") newer.detail = detail;
  }
  return [...found.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

function textOf(data: Logged["data"], name: string): string {
  const value = data[name];
  return typeof value === "string" ? value : "";
}
