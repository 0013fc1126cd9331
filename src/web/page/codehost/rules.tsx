/** Rules: which event on the code host starts a run, and who may start it. Each rule can be tried. */

import { FlaskConical, MoreHorizontal, Plus, Power, Trash2 } from "lucide-react";
import { useState } from "react";
import { client, type Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { List } from "../../kit/list.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Menu } from "../../ui/menu.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { type Column, nameColumn } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { EVENTS, RuleDialog } from "./rule-dialog.tsx";
import { TryDialog } from "./try-dialog.tsx";

type Rule = Schemas["CodeHostRule"];

const formatWhen = ({ event, label, command }: Rule): string =>
  [EVENTS[event], label && `label ${label}`, command].filter(Boolean).join(", ");

export function RulesView() {
  const query = usePages("/v1/codehost/rules", { query: { limit: 50 } });
  const [shown, show] = useParam("rule");
  const [dialog, setDialog] = useState<{ is: "try" | "delete"; rule: Rule }>();
  const action = useChange("/v1/codehost/rules");
  const toggle = ({ id, enabled }: Rule) =>
    action.run(() => client.PUT("/v1/codehost/rules/{id}", { params: { path: { id } }, body: { enabled: !enabled } }));
  const columns: Column<Rule>[] = [
    nameColumn("Rule", "w-1/2 min-w-40", (rule) => [rule.name, `${rule.repository}: ${formatWhen(rule)}`]),
    {
      title: "State",
      className: "whitespace-nowrap",
      cell: ({ enabled }) => <Badge tone={enabled ? "ok" : "plain"}>{enabled ? "on" : "off"}</Badge>,
    },
    { title: "Runs", wide: true, cell: ({ pipeline_id }) => <code className="whitespace-nowrap">{pipeline_id}</code> },
    {
      title: "By",
      wide: true,
      cell: ({ permission, bots }) => [`who has ${permission}`, ...bots].join(", "),
    },
    {
      title: "What to do",
      quiet: true,
      align: "right",
      cell: (rule) => (
        <span className="relative z-10">
          <Menu
            trigger={<IconButton label={`More about ${rule.name}`} icon={MoreHorizontal} iconSize={16} />}
            items={[
              { label: "Try it", icon: FlaskConical, act: () => setDialog({ is: "try", rule }) },
              { label: rule.enabled ? "Switch off" : "Switch on", icon: Power, act: () => toggle(rule) },
              null,
              { label: "Delete", icon: Trash2, danger: true, act: () => setDialog({ is: "delete", rule }) },
            ]}
          />
        </span>
      ),
    },
  ];
  const add = <Button label="Add a rule" kind="primary" icon={Plus} onClick={() => show("new")} />;
  const edited = query.rows.find(({ id }) => id === shown);
  return (
    <>
      <ProblemNote error={action.error} />
      <List
        label="Rules"
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `/code-host?tab=rules&rule=${id}`}
        bar={<div className="mb-3 flex justify-end">{add}</div>}
        empty={{
          text: "Nothing on the code host starts a run until a rule says so.",
          action: add,
          cli: "skep codehost add NAME --project PROJECT --event issue_labeled --label LABEL --pipeline ID",
        }}
      />
      {(shown === "new" || edited) && <RuleDialog key={shown} rule={edited} onClose={() => show("")} />}
      {dialog?.is === "try" && <TryDialog rule={dialog.rule} onClose={() => setDialog(undefined)} />}
      {dialog?.is === "delete" && (
        <Confirm
          title={`Delete the rule ${dialog.rule.name}?`}
          word="Delete the rule"
          onClose={() => setDialog(undefined)}
          changes={["/v1/codehost/rules"]}
          act={() => client.DELETE("/v1/codehost/rules/{id}", { params: { path: { id: dialog.rule.id } } })}
        >
          It starts no more runs. Those that it started continue.
        </Confirm>
      )}
    </>
  );
}
