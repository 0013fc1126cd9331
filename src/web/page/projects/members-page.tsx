/** The members of a project and their roles, who else can see it, and its invitations. */
import { LogOut, Trash2, UserPlus } from "lucide-react";
import { useState } from "react";
import { useParams } from "wouter";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { type RowOf, usePages } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { DetailPage } from "../../kit/detail-page.tsx";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { List } from "../../kit/list.tsx";
import { useOwnId } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { Field, Input, Select, SelectField } from "../../ui/field.tsx";
import { shellWord } from "../../ui/format.ts";
import { Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { type Column, nameColumn } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { Invitations } from "./invitations.tsx";
import { mayDo, ROLES, type Role } from "./roles.ts";

type Project = Schemas["Project"];
type Member = RowOf<"/v1/projects/{id}/members">;

const ADDRESS = "/v1/projects/{id}/members";
const OPEN_TO: [Project["access"], string][] = [
  ["everyone", "Everyone with an account here, as a maintainer"],
  ["members", "Its members alone"],
  ["personal", "Its owner alone"],
];

export default function MembersPage() {
  const { id = "" } = useParams<{ id: string }>();
  const query = api.useQuery("get", "/v1/projects/{id}", { params: { path: { id } } });
  return (
    <DetailPage
      query={query}
      kind="Members"
      list={["/projects", "Projects"]}
      head={({ name }) => ({
        title: `Members of ${name}`,
        crumbs: [
          ["/projects", "Projects"],
          [`/projects/${id}`, name],
        ],
        cli: `skep projects members list ${shellWord(name)}`,
      })}
    >
      {(project) => (
        <>
          <OpenTo key={project.access} project={project} />
          <Members project={project} />
          {mayDo(project.role, "maintainer") && <Invitations project={project} />}
        </>
      )}
    </DetailPage>
  );
}

function OpenTo({ project: { id, name, access, role } }: { project: Project }) {
  const change = useChange("/v1/projects");
  const mayDecide = mayDo(role, "owner");
  const open = (next: Project["access"]) =>
    change.run(
      () => client.PUT("/v1/projects/{id}/access", { params: { path: { id } }, body: { access: next } }),
      `${name} is open to ${next === "personal" ? "its owner alone" : next === "members" ? "its members" : "everyone"}.`,
    );
  return (
    <Section title="Who sees it">
      <div className="max-w-md">
        <Field label="Open to" hint={mayDecide ? "Who is left out sees nothing of it." : "An owner decides on that."}>
          <Select value={access} onPick={open} disabled={!mayDecide || change.busy} options={OPEN_TO} />
        </Field>
        <ProblemNote error={change.error} />
      </div>
    </Section>
  );
}

function Members({ project }: { project: Project }) {
  const { id, name, role } = project;
  const own = useOwnId();
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Member>();
  const query = usePages(ADDRESS, { path: { id }, query: { limit: 100 } });
  const mayDecide = mayDo(role, "owner");
  const isSelf = removed?.user_id === own;
  const columns: Column<Member>[] = [
    nameColumn("Member", "w-2/5", ({ display_name, email }) => [display_name, email ?? ""]),
    {
      title: "Role",
      cell: (member) => (mayDecide ? <RoleMenu project={project} member={member} /> : member.role),
    },
    { title: "Since", cell: ({ created_at }) => <Ago at={created_at} /> },
    {
      title: "Actions",
      quiet: true,
      align: "right",
      cell: (member) => {
        if (member.user_id === own)
          return <Button label="Leave" kind="quiet" icon={LogOut} onClick={() => setRemoved(member)} />;
        return (
          mayDecide && (
            <Button
              kind="quiet"
              icon={Trash2}
              onClick={() => setRemoved(member)}
              aria-label={`Remove ${member.display_name}`}
            />
          )
        );
      },
    },
  ];
  const add = mayDecide && <Button label="Add a member" icon={UserPlus} onClick={() => setAdding(true)} />;
  return (
    <Section title="Members" actions={query.rows.length > 0 && add}>
      <List
        label="Members"
        query={query}
        columns={columns}
        keyOf={({ user_id }) => user_id}
        empty={{
          text: "It has no members: everyone with an account works in it.",
          action: add,
          cli: `skep projects members add ${shellWord(name)} ada@example.org`,
        }}
      />
      {isAdding && <AddMember project={project} onClose={() => setAdding(false)} />}
      {removed && (
        <Confirm
          title={isSelf ? `Leave ${name}?` : `Remove ${removed.display_name} from ${name}?`}
          word={isSelf ? "Leave the project" : "Remove"}
          onClose={() => setRemoved(undefined)}
          changes={["/v1/projects"]}
          act={() =>
            client.DELETE("/v1/projects/{id}/members/{user_id}", { params: { path: { id, user_id: removed.user_id } } })
          }
          leaveTo={isSelf && project.access !== "everyone" ? "/projects" : undefined}
        >
          Work of {isSelf ? "yours" : "theirs"} in the project stops before its next call of a model or a tool.
        </Confirm>
      )}
    </Section>
  );
}

function RoleMenu({ project: { id }, member }: { project: Project; member: Member }) {
  const change = useChange("/v1/projects");
  const { user_id, display_name, role } = member;
  const give = (next: Role) =>
    change.run(
      () =>
        client.PUT("/v1/projects/{id}/members/{user_id}", { params: { path: { id, user_id } }, body: { role: next } }),
      `${display_name} is ${next} now.`,
    );
  return (
    <>
      <Select value={role} onPick={give} disabled={change.busy} aria-label={`Role of ${display_name}`}>
        {ROLES.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </Select>
      <ProblemNote error={change.error} />
    </>
  );
}

function AddMember({ project: { id, name }, onClose }: { project: Project; onClose(): void }) {
  return (
    <FormDialog
      title={`Add a member to ${name}`}
      word="Add"
      changes={["/v1/projects"]}
      submit={({ text, choice }) =>
        must(
          client.POST(ADDRESS, { params: { path: { id } }, body: { user: text("user"), role: choice<Role>("role") } }),
        )
      }
      onClose={onClose}
    >
      <Field label="Account" hint="Its e-mail address. Who has no account yet needs one first." name="user">
        <Input required autoFocus spellCheck={false} placeholder="ada@example.org" />
      </Field>
      <SelectField label="Role" name="role" defaultValue="contributor" options={ROLES} />
    </FormDialog>
  );
}
