/** An agent's permission rules. They can be added, changed, moved, removed, and tried on a call without making it. */
import { ArrowDown, ArrowUp, Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { client, must, type Schemas } from "../../api/client.ts";
import { ifMatch, type Tagged } from "../../api/tagged.ts";
import { useChange } from "../../kit/change.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { useAdmin } from "../../session/session.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { DataList, Field, Input, InputField, Select, TextArea } from "../../ui/field.tsx";
import { type Fields, Form } from "../../ui/form.tsx";
import { Panel, Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Quiet } from "../home/needs-you.tsx";

type Agent = Schemas["Agent"];
type Rule = Agent["config"]["permissions"][number];
type Effect = "allow" | "ask" | "deny";

const EFFECTS: readonly Effect[] = ["allow", "ask", "deny"];
const KINDS = ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other", "*"] as const;
const TONES = { allow: "ok", ask: "wait", deny: "bad" } as const;

export function AgentRules({ tagged }: { tagged: Tagged<Agent> }) {
  const agent = tagged.value;
  const rules = agent.config.permissions;
  const admin = useAdmin();
  const action = useChange("/v1/agents");
  /** Index of the rule that is being edited; the number of rules if a new one is added. */
  const [edited, setEdited] = useState<number>();
  const save = (permissions: Rule[]) =>
    must(
      client.PUT("/v1/agents/{id}/config", {
        params: { path: { id: agent.id } },
        body: { permissions },
        ...ifMatch(tagged.etag),
      }),
    );
  const remove = (at: number) => action.run(() => save(rules.toSpliced(at, 1)), `Rule ${at + 1} is removed.`);
  const move = (at: number, to: number) =>
    action.run(() => save(rules.toSpliced(at, 1).toSpliced(to, 0, rules[at]!)), `It is rule ${to + 1} now.`);
  return (
    <Section title="Permission rules">
      <p className="mb-2 text-sm text-dim">
        The first rule that matches a call decides. If none does, the call is allowed.
      </p>
      <ProblemNote error={action.error} />
      {rules.length === 0 ? (
        <Quiet>None: it may use its tools without asking.</Quiet>
      ) : (
        <Panel>
          <ol aria-label="Permission rules">
            {agent.rules.map((text, at) => (
              <li
                key={at}
                className="flex min-h-11 flex-wrap items-center gap-1 border-b border-line px-4 py-1.5 last:border-0"
              >
                <span className="w-6 text-sm text-faint tabular-nums">{at + 1}</span>
                <code className="mr-auto min-w-0 font-mono break-words">{text}</code>
                {admin && (
                  <RuleButtons
                    at={at}
                    last={rules.length - 1}
                    busy={action.busy}
                    edit={() => setEdited(at)}
                    move={(to) => move(at, to)}
                    remove={() => remove(at)}
                  />
                )}
              </li>
            ))}
          </ol>
        </Panel>
      )}
      {admin && <Button label="Add a rule" className="mt-2" icon={Plus} onClick={() => setEdited(rules.length)} />}
      {edited !== undefined && (
        <RuleDialog agent={agent} at={edited} save={save} onClose={() => setEdited(undefined)} />
      )}
      <Trial agent={agent} />
    </Section>
  );
}

interface RuleButtonsProps {
  at: number;
  last: number;
  busy: boolean;
  edit(): void;
  move(to: number): void;
  remove(): void;
}

function RuleButtons({ at, last, busy, edit, move, remove }: RuleButtonsProps) {
  const of = `rule ${at + 1}`;
  return (
    <>
      <IconButton label={`Move ${of} up`} disabled={busy || at === 0} onClick={() => move(at - 1)} icon={ArrowUp} />
      <IconButton
        label={`Move ${of} down`}
        disabled={busy || at === last}
        onClick={() => move(at + 1)}
        icon={ArrowDown}
      />
      <IconButton label={`Change ${of}`} disabled={busy} onClick={edit} icon={Pencil} />
      <IconButton label={`Remove ${of}`} disabled={busy} onClick={remove} icon={Trash2} />
    </>
  );
}

const linesIn = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** Builds a rule from the fields of the dialog. */
function ruleOf({ choice, text, words }: Fields): Rule {
  const effect = choice<Effect>("effect");
  const tool = words("tools");
  const [path, matches] = [linesIn(text("path")), linesIn(text("matches"))];
  if (path.length + matches.length === 0) return { [effect]: tool };
  const target = {
    ...(tool.length > 0 ? { tool } : {}),
    ...(path.length > 0 ? { path } : {}),
    ...(matches.length > 0 ? { matches } : {}),
  };
  return { [effect]: target };
}

const listOf = (value: string | string[] | undefined): string[] =>
  typeof value === "string" ? [value] : (value ?? []);

/** Splits a rule into the fields of the dialog. */
function partsOf(rule: Rule | undefined) {
  const effect = EFFECTS.find((one) => rule?.[one] !== undefined) ?? "ask";
  const target = rule?.[effect];
  const isPlain = target === undefined || typeof target === "string" || Array.isArray(target);
  const { tool, path, matches } = isPlain ? { tool: target } : target;
  return { effect, tools: listOf(tool), path: listOf(path), matches: listOf(matches) };
}

interface RuleDialogProps {
  agent: Agent;
  at: number;
  save(permissions: Rule[]): Promise<unknown>;
  onClose(): void;
}

function RuleDialog({ agent, at, save, onClose }: RuleDialogProps) {
  const rules = agent.config.permissions;
  const isNew = at === rules.length;
  const { effect, tools, path, matches } = partsOf(rules[at]);
  return (
    <FormDialog
      title={isNew ? "Add a rule" : `Change rule ${at + 1}`}
      word={isNew ? "Add" : "Save"}
      changes={["/v1/agents"]}
      said="Saved. The rules hold from the agent's next call."
      submit={(fields) => save(rules.toSpliced(at, 1, ruleOf(fields)))}
      onClose={onClose}
    >
      <Field label="What happens" name="effect">
        <Select defaultValue={effect}>
          <option value="allow">allow: the call is made</option>
          <option value="ask">ask: a person decides</option>
          <option value="deny">deny: the call is refused</option>
        </Select>
      </Field>
      <Field
        label="Tools"
        name="tools"
        hint={`Names of tools, or kinds: ${KINDS.join(", ")}. Separated by commas. Empty: any tool that the patterns fit.`}
      >
        <Input defaultValue={tools.join(", ")} list="rule-tools" spellCheck={false} />
      </Field>
      <ToolList agent={agent} id="rule-tools" />
      <Field
        label="Only for files"
        name="path"
        hint="One pattern a line: .github/**, *.lock. Empty: whatever the file."
      >
        <TextArea rows={2} defaultValue={path.join("\n")} spellCheck={false} />
      </Field>
      <Field
        label="Only for commands or addresses"
        name="matches"
        hint="One pattern a line: git push*, https://example.org/*. Empty: whatever it is called with."
      >
        <TextArea rows={2} defaultValue={matches.join("\n")} spellCheck={false} />
      </Field>
    </FormDialog>
  );
}

function ToolList({ agent, id }: { agent: Agent; id: string }) {
  return <DataList id={id} options={[...agent.tools, ...KINDS]} />;
}

/** Asks the server what would happen with a call. The server decides as it does for a real call. */
function Trial({ agent }: { agent: Agent }) {
  const [found, setFound] = useState<Schemas["PermissionPreview"]>();
  const action = useChange();
  const ask = async ({ text }: Fields) => {
    setFound(undefined);
    const body = { tool: text("tool"), path: text("path"), command: text("command"), address: text("address") };
    const given = Object.entries(body).filter(([name, value]) => name === "tool" || value !== "");
    const params = { path: { id: agent.id } };
    const call = client.POST("/v1/agents/{id}/permissions/preview", {
      params,
      body: { tool: body.tool, ...Object.fromEntries(given) },
    });
    setFound(await must(call));
  };
  return (
    <details className="mt-3">
      <summary className="cursor-pointer text-sm text-dim">What would happen with a call?</summary>
      <Panel className="mt-2 p-4">
        <Form action={action} word="Try" submit={ask}>
          <div className="grid gap-x-4 sm:grid-cols-2">
            <InputField label="Tool" name="tool" required list="tried-tools" spellCheck={false} />
            <ToolList agent={agent} id="tried-tools" />
            <InputField label="File or folder" name="path" spellCheck={false} />
            <InputField label="Command line" name="command" spellCheck={false} />
            <InputField label="Address" name="address" spellCheck={false} />
          </div>
        </Form>
        <p role="status" className="mt-2 break-words">
          {found && (
            <>
              <Badge tone={TONES[found.effect]}>{found.effect}</Badge> {found.message}
            </>
          )}
        </p>
      </Panel>
    </details>
  );
}
