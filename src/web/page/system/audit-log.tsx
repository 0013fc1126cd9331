/** The audit log: log-ins and changes of rights, secrets and settings, with who made them. */
import type { Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { List } from "../../kit/list.tsx";
import { Actor, useAgentNames } from "../../session/actor.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { FilterBar, FilterSelect } from "../../ui/filter.tsx";
import { NameLink } from "../../ui/link.tsx";
import type { Column } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { detailOf, GROUPS, sentenceOf } from "./audit-words.ts";

type Entry = Schemas["Audit"];

const COLUMNS: Column<Entry>[] = [
  { title: "What happened", className: "w-full min-w-44", cell: (entry) => <Sentence entry={entry} /> },
  {
    title: "From",
    wide: true,
    cell: ({ address }) => <span className="text-sm whitespace-nowrap text-dim">{address}</span>,
  },
  { title: "When", align: "right", cell: ({ at }) => <Ago at={at} /> },
];

/** One entry as a sentence. Actor and subject appear under their current names. */
function Sentence({ entry }: { entry: Entry }) {
  const { actor, actor_name, subject, subject_name, data } = entry;
  const [before, behind] = sentenceOf(entry);
  const detail = detailOf(entry, useAgentNames());
  const given = typeof data["name"] === "string" ? data["name"] : null;
  const who = actor.startsWith("execution:") ? (actor_name ?? actor) : actor;
  const name = subject_name ?? given;
  return (
    <span className="block min-w-0">
      <b className="font-medium" title={actor}>
        {actor.startsWith("usr_") && actor_name ? actor_name : <Actor id={who} />}
      </b>{" "}
      {before}
      {behind !== null && subject && (
        <span className="font-medium" title={subject}>
          {subject.startsWith("run_") ? (
            <NameLink href={`/runs/${subject}`}>{name ?? "that was removed"}</NameLink>
          ) : name !== null ? (
            name
          ) : (
            <Actor id={subject} />
          )}
        </span>
      )}
      {behind}
      {detail && <span className="block truncate text-sm text-dim">{detail}</span>}
    </span>
  );
}

export function AuditLog() {
  const [action, setAction] = useParam("action");
  const query = usePages("/v1/admin/audit", { query: { limit: 50, ...(action ? { action } : {}) } });
  return (
    <>
      <FilterBar>
        <FilterSelect label="About" value={action} onChange={setAction} options={GROUPS} />
      </FilterBar>
      <List
        label="Audit log"
        query={query}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        filters={["action"]}
        noMatch="Nothing of that kind is in the log."
        empty={{
          text: "The log is empty. Log-ins, and what changes rights, secrets or settings, are written here.",
          action: <ButtonLink href="/settings?tab=retention">See how long it is kept</ButtonLink>,
        }}
      />
    </>
  );
}
