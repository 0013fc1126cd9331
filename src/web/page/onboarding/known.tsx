/** What the interviewers know so far, part by part; it grows during the chat. */
import { CircleCheck, CircleDashed, LoaderCircle } from "lucide-react";
import { Panel } from "../../ui/page.tsx";
import { Value } from "../../ui/value.tsx";
import { type Onboarding, PHASES, type Phase } from "./onboarding.ts";

const TITLES: Record<Phase, string> = {
  intake: "What it is",
  strategy: "Why, and what for",
  product: "What it does",
  architecture: "How, and the first tasks",
};

type State = "done" | "now" | "later";

function stateOf(phase: Phase, { phase: now, status }: Onboarding): State {
  const at = now === "done" ? PHASES.length : PHASES.indexOf(now);
  const mine = PHASES.indexOf(phase);
  if (mine < at) return "done";
  return mine === at && status === "active" ? "now" : "later";
}

const WORDS: Record<State, string> = { done: "done", now: "asked about now", later: "still to come" };

function StateIcon({ state }: { state: State }) {
  const common = { size: 15, role: "img", "aria-label": WORDS[state], className: "shrink-0" };
  if (state === "done") return <CircleCheck {...common} className="shrink-0 text-ok" />;
  if (state === "now") return <LoaderCircle {...common} className="shrink-0 text-run" />;
  return <CircleDashed {...common} className="shrink-0 text-faint" />;
}

/** Replaces field names by words, at every depth. */
function toWords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toWords);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name.replace(/_id$/, "").replaceAll("_", " "), toWords(one)]),
  );
}

export function Known({ onboarding, className }: { onboarding: Onboarding; className: string }) {
  return (
    <section
      aria-label="What is known so far"
      className={`flex min-w-0 flex-col gap-2 lg:sticky lg:top-4 ${className}`}
    >
      <div className="flex flex-col gap-2 lg:max-h-[85dvh] lg:overflow-y-auto" tabIndex={0}>
        {PHASES.map((phase) => {
          const state = stateOf(phase, onboarding);
          const section = onboarding.context[phase];
          const known = section !== undefined && Object.keys(section).length > 0;
          return (
            <Panel key={phase} className="shrink-0">
              <details open={known || state === "now"}>
                <summary className="flex min-h-10 items-center gap-2 px-3 py-2 max-sm:min-h-11">
                  <StateIcon state={state} />
                  <span className="min-w-0 flex-1 font-medium">{TITLES[phase]}</span>
                  {!known && <span className="text-xs text-faint">nothing yet</span>}
                </summary>
                <div className="px-3 pb-3 text-sm">
                  {known ? (
                    <Value given value={toWords(section)} />
                  ) : (
                    <p className="text-dim">It fills in as you talk.</p>
                  )}
                </div>
              </details>
            </Panel>
          );
        })}
      </div>
    </section>
  );
}
