/** One memory entry: its text, source and scores. It can be edited, confirmed, pinned, superseded and undone. */

import { Pencil, Pin, PinOff, ThumbsDown, ThumbsUp, Trash2, Undo2 } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { ifMatch, type Tagged, useTagged } from "../../api/tagged.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { EditForm } from "../../kit/edit-form.tsx";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { Actor } from "../../session/actor.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Badge, FactRow } from "../../ui/facts.tsx";
import { DataList, Field, Input, InputField, TextArea } from "../../ui/field.tsx";
import type { Fields } from "../../ui/form.tsx";
import { pluralize, shellWord } from "../../ui/format.ts";
import { TextLink } from "../../ui/link.tsx";
import { MarkdownText } from "../../ui/markdown-text.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Await, Warning } from "../../ui/note.tsx";
import { notify } from "../../ui/notice.tsx";
import { PageHeader, Panel, Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Ago } from "../../ui/time.tsx";
import { Unconfirmed } from "../../ui/unconfirmed.tsx";
import { type Entry, entryHref, useVaultName } from "./memory.ts";
import { RecalledBy } from "./recalled-by.tsx";
import { WrittenBy } from "./written-by.tsx";

type Change = Schemas["UpdateMemoryVaultEntryBody"];
const PATH = "/v1/memory/vaults/{agent_id}/entries/{entry}";

export function EntryView({ agent, id }: { agent: string; id: string }) {
  const params = { path: { agent_id: agent, entry: id } };
  const query = useTagged(PATH, params, () => client.GET(PATH, { params }));
  return (
    <Await query={query} page="Entry" list={[`/memory/${agent}`, "Entries"]}>
      {(tagged) => <Shown tagged={tagged} />}
    </Await>
  );
}

type Open = "edit" | "supersede" | "delete" | "origin" | null;

function Shown({ tagged }: { tagged: Tagged<Entry> }) {
  const entry = tagged.value;
  const [open, setOpen] = useState<Open>(null);
  const vaultName = useVaultName();
  const action = useChange("/v1/memory", "/v1/memory-scores");
  const params = { path: { agent_id: entry.agent_id, entry: entry.id } };
  const close = () => setOpen(null);
  const change = (body: Change, said: string) =>
    action.run(async () => {
      await must(client.PUT(PATH, { params, body }));
      notify(said, undo);
    });
  const undo = () =>
    void action.run(
      () => client.POST("/v1/memory/vaults/{agent_id}/entries/{entry}/undo", { params }),
      "Put back as it was before.",
    );
  const rate = (useful: boolean) =>
    action.run(() => client.PUT("/v1/memory-scores/{agent_id}/{entry}", { params, body: { useful } }));
  return (
    <>
      <PageHeader
        title={entry.title}
        cli={`skep memory show ${shellWord(`${entry.agent_id}/${entry.id}`)}`}
        crumbs={[
          ["/memory", "Memory"],
          [`/memory/${entry.agent_id}`, vaultName(entry.agent_id)],
        ]}
        beside={
          <span className="flex gap-1">
            <Badge>{entry.type}</Badge>
            {!entry.trusted && <Badge tone="wait">unconfirmed</Badge>}
            {entry.pinned && <Badge tone="run">pinned</Badge>}
          </span>
        }
        actions={
          <>
            <Button label="Edit" icon={Pencil} onClick={() => setOpen("edit")} />
            <Button
              label={entry.pinned ? "Unpin" : "Pin"}
              icon={entry.pinned ? PinOff : Pin}
              busy={action.busy}
              onClick={() => change({ pinned: !entry.pinned }, entry.pinned ? "No longer pinned." : "Pinned.")}
            />
            <Menu
              trigger={<Button>More</Button>}
              items={[
                { label: "Undo the last change", icon: Undo2, act: undo },
                { label: "Supersede by another", act: () => setOpen("supersede") },
                ...(entry.origin.execution
                  ? [{ label: "What its execution wrote", act: () => setOpen("origin") }]
                  : []),
                null,
                { label: "Delete", icon: Trash2, danger: true, act: () => setOpen("delete") },
              ]}
            />
          </>
        }
      />
      <ProblemNote error={action.error} />
      {entry.problem && <Warning>The file has a fault and is not recalled: {entry.problem}</Warning>}
      {!entry.trusted && !entry.problem && (
        <Unconfirmed
          reason={entry.origin.outside}
          action={{ ...action, error: undefined }}
          confirm={() => change({ trusted: true }, "Confirmed.")}
        >
          Nobody has confirmed this. It was written after text from outside was read, or by somebody else's work, so it
          is in no prompt. Read it before you confirm it.
        </Unconfirmed>
      )}
      {entry.superseded_by && (
        <Warning>
          Superseded by <TextLink href={entryHref(entry.agent_id, entry.superseded_by)}>{entry.superseded_by}</TextLink>
          ; agents read that one.
        </Warning>
      )}
      <Panel className="my-4 p-4">
        <Content entry={entry} />
      </Panel>
      <FactRow
        facts={[
          ["Written by", <Actor key="author" id={entry.origin.author ?? entry.origin.by} />],
          ["For", entry.owner_id ? "its owner alone" : "everybody"],
          ["Added", <Ago key="added" at={entry.created_at} sentence />],
          ["Changed", <Ago key="changed" at={entry.updated_at} sentence />],
          entry.expires_at ? ["Expires", <Ago key="ends" at={entry.expires_at} />] : null,
          ["File", <code key="file">{`vaults/${entry.agent_id}/${entry.id}.md`}</code>],
          entry.tags.length > 0 ? ["Tags", entry.tags.join(", ")] : null,
        ]}
      />
      <ScoreOf entry={entry} rate={rate} busy={action.busy} />
      <LinksOf entry={entry} />
      <RecalledBy agent={entry.agent_id} entry={entry.id} />
      {open === "edit" && <EditEntry tagged={tagged} onClose={close} />}
      {open === "supersede" && <Supersede entry={entry} onClose={close} />}
      {open === "origin" && <WrittenBy execution={entry.origin.execution!} onClose={close} />}
      {open === "delete" && (
        <Confirm
          title="Delete the entry?"
          word="Delete it"
          onClose={close}
          changes={["/v1/memory", "/v1/memory-scores"]}
          act={() => must(client.DELETE(PATH, { params })).then(() => notify("Deleted.", undo))}
          leaveTo={`/memory/${entry.agent_id}`}
        >
          The file is removed. Undo brings it back.
        </Confirm>
      )}
    </>
  );
}

function ScoreOf({ entry, rate, busy }: { entry: Entry; rate(useful: boolean): unknown; busy: boolean }) {
  const query = api.useQuery("get", "/v1/memory-scores/{agent_id}", {
    params: { path: { agent_id: entry.agent_id }, query: { limit: 200 } },
  });
  const score = query.data?.items.find((one) => one.entry === entry.id);
  return (
    <Section
      title="Score"
      actions={
        <span className="flex gap-2">
          <Button label="Useful" busy={busy} icon={ThumbsUp} onClick={() => rate(true)} />
          <Button label="Not useful" busy={busy} icon={ThumbsDown} onClick={() => rate(false)} />
        </span>
      }
    >
      <FactRow
        facts={[
          ["Score", entry.score.toFixed(2)],
          score ? ["Recalled", pluralize(score.accesses, "time")] : null,
          score ? ["Rated useful", score.useful] : null,
          score ? ["Not useful", score.not_useful] : null,
          score ? ["Usefulness", score.usefulness.toFixed(2)] : null,
          score ? ["Recency", score.recency.toFixed(2)] : null,
          score ? ["Frequency", score.frequency.toFixed(2)] : null,
        ]}
      />
    </Section>
  );
}

/** The entry's vault: its links, and the titles of the other entries. */
function useVaultGraph({ agent_id }: Entry) {
  const { data } = api.useQuery("get", "/v1/memory/graph/{agent_id}", { params: { path: { agent_id } } });
  const titles = useMemo(() => new Map(data?.nodes.map((node) => [node.entry, node.title])), [data]);
  return { links: data?.links ?? [], titles };
}

function Content({ entry }: { entry: Entry }) {
  const { agent_id, content } = entry;
  const { titles } = useVaultGraph(entry);
  const findNote = useCallback(
    (id: string) => {
      const title = titles.get(id);
      return title === undefined ? undefined : { href: entryHref(agent_id, id), title };
    },
    [agent_id, titles],
  );
  return <MarkdownText text={content} findNote={findNote} />;
}

function LinksOf({ entry }: { entry: Entry }) {
  const { links, titles } = useVaultGraph(entry);
  const rows = [
    ...links.filter(({ from }) => from === entry.id).map(({ to, broken }) => ({ id: to, broken, way: "links to" })),
    ...links.filter(({ to }) => to === entry.id).map(({ from }) => ({ id: from, broken: false, way: "linked from" })),
  ];
  if (rows.length === 0) return null;
  return (
    <Section title="Links">
      <ul className="flex flex-col gap-1">
        {rows.map(({ id, broken, way }) => (
          <li key={`${way} ${id}`}>
            <span className="text-dim">{way}</span>{" "}
            {broken ? (
              <>
                <code className="font-mono text-xs">{id}</code> <Badge tone="bad">not there</Badge>
              </>
            ) : (
              <TextLink href={entryHref(entry.agent_id, id)}>{titles.get(id) ?? id}</TextLink>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

function EditEntry({ tagged, onClose }: { tagged: Tagged<Entry>; onClose(): void }) {
  const { agent_id, id } = tagged.value;
  const params = { path: { agent_id, entry: id } };
  return (
    <Dialog title="Edit the entry" onClose={onClose} wide>
      <EditForm
        tagged={tagged}
        changes={["/v1/memory", "/v1/memory-scores"]}
        what="the entry"
        bodyOf={bodyOf}
        send={(body, etag) => client.PUT(PATH, { params, body, ...ifMatch(etag) })}
        mine={({ content }) => content}
        theirs={({ content }) => content}
        onCancel={onClose}
        onDone={onClose}
      >
        {(entry) => <EntryFields entry={entry} />}
      </EditForm>
    </Dialog>
  );
}

const bodyOf = ({ text, raw, words }: Fields) => ({
  title: text("title"),
  content: raw("content"),
  tags: words("tags"),
  expires_at: text("expires_at") ? new Date(text("expires_at")).toISOString() : null,
});

const EntryFields = ({ entry }: { entry: Entry }) => (
  <>
    <InputField label="Title" name="title" required maxLength={200} defaultValue={entry.title} />
    <Field
      label="Content"
      hint="Markdown. [[entry]] links to another entry. The old text is kept for undo."
      name="content"
    >
      <TextArea rows={12} required defaultValue={entry.content} />
    </Field>
    <div className="grid gap-x-3 sm:grid-cols-2">
      <InputField label="Tags" name="tags" defaultValue={entry.tags.join(" ")} />
      <Field label="Expires" hint="Empty: never." name="expires_at">
        <Input type="date" defaultValue={entry.expires_at?.slice(0, 10)} />
      </Field>
    </div>
  </>
);

function Supersede({ entry, onClose }: { entry: Entry; onClose(): void }) {
  const others = api.useQuery("get", "/v1/memory/vaults/{agent_id}", {
    params: { path: { agent_id: entry.agent_id }, query: { limit: 200 } },
  });
  const params = { path: { agent_id: entry.agent_id, entry: entry.id } };
  return (
    <FormDialog
      title="Supersede the entry"
      word="Supersede"
      changes={["/v1/memory", "/v1/memory-scores"]}
      submit={({ text }) => client.PUT(PATH, { params, body: { superseded_by: text("superseded_by") } })}
      onClose={onClose}
    >
      <Field label="By" hint="Agents then read that one. This one stays to be read by people." name="superseded_by">
        <Input list="memory-entries" required spellCheck={false} placeholder="fact/deploy-day" />
      </Field>
      <DataList
        id="memory-entries"
        options={others.data?.items.filter(({ id }) => id !== entry.id).map(({ id, title }) => [id, title])}
      />
    </FormDialog>
  );
}
