/** The environment in which sandboxes for a project's work start, and what its repository proposes for it. */
import { Check, Trash2 } from "lucide-react";
import { useState } from "react";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { useAdmin } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { Await } from "../../ui/note.tsx";
import { Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Ago } from "../../ui/time.tsx";
import { ProjectCaches } from "./project-caches.tsx";
import { ProjectSetup } from "./project-setup.tsx";

type Environment = Schemas["ProjectEnvironment"];
type Definition = Schemas["Environment"];
type Dockerfile = NonNullable<Schemas["AcceptedDockerfile"]>;
type Proposal = NonNullable<Environment["proposal"]>;

const ADDRESS = "/v1/projects/{id}/environment";

/** @param maySetUp whether this person may start the set-up of the code. */
export function ProjectEnvironment({ id, maySetUp }: { id: string; maySetUp: boolean }) {
  const query = api.useQuery("get", ADDRESS, { params: { path: { id } } });
  return (
    <Section title="Environment">
      <Await query={query} rows={2}>
        {({ accepted, proposal, changed }) => (
          <div className="flex flex-col gap-3">
            {accepted ? (
              <Accepted id={id} accepted={accepted} />
            ) : (
              <p className="text-dim">
                Sandboxes start with the image of the agent or of the settings. Nobody has accepted an environment.
              </p>
            )}
            {accepted && <ProjectSetup id={id} mayStart={maySetUp} />}
            {accepted?.definition.caches && <ProjectCaches id={id} />}
            {changed && proposal && <Proposed key={proposal.hash} id={id} proposal={proposal} />}
            {!proposal && !accepted && <p className="text-dim">The repository proposes none.</p>}
          </div>
        )}
      </Await>
    </Section>
  );
}

function Accepted({ id, accepted }: { id: string; accepted: NonNullable<Environment["accepted"]> }) {
  const admin = useAdmin();
  const [removing, setRemoving] = useState(false);
  return (
    <div className="rounded-lg border border-line bg-panel px-4 py-3">
      <p className="mb-2 flex flex-wrap items-center gap-3 text-dim">
        <span>
          Accepted <Ago at={accepted.accepted_at} sentence />
        </span>
        {admin && (
          <Button label="Remove the environment" kind="quiet" icon={Trash2} onClick={() => setRemoving(true)} />
        )}
      </p>
      <Facts {...accepted} />
      {removing && (
        <Confirm
          title="Remove the environment?"
          word="Remove"
          onClose={() => setRemoving(false)}
          changes={["/v1/projects"]}
          act={() => client.DELETE(ADDRESS, { params: { path: { id } } })}
        >
          From the next sandbox on, the image of the agent or of the settings is used.
        </Confirm>
      )}
    </div>
  );
}

function Proposed({ id, proposal }: { id: string; proposal: Proposal }) {
  const { hash, definition, dockerfile, files, notes, branch, commit } = proposal;
  const admin = useAdmin();
  const action = useChange("/v1/projects");
  const [image, setImage] = useState(definition.image ?? "");
  const accept = () =>
    action.run(async () => {
      const other = image.trim() === (definition.image ?? "") ? {} : { image: image.trim() };
      await must(client.PUT(ADDRESS, { params: { path: { id } }, body: { hash, ...other } }));
    }, "The environment counts from the next sandbox on.");
  return (
    <div className="rounded-lg border border-line px-4 py-3">
      <p className="mb-2 break-words">
        The repository proposes, in {files.join(", ")} ({branch} at <code>{commit.slice(0, 8)}</code>):
      </p>
      <Facts definition={definition} dockerfile={dockerfile} />
      {notes.length > 0 && (
        <ul aria-label="Left out" className="mt-2 list-disc pl-5 text-sm text-dim">
          {notes.map((note) => (
            <li key={note} className="break-words">
              {note}
            </li>
          ))}
        </ul>
      )}
      {admin && (
        <div className="mt-3 flex max-w-md flex-col gap-3">
          <Field
            label="Container image"
            hint={
              dockerfile ? "Only to use this one, and not the Dockerfile" : "Where another one has what its code needs"
            }
          >
            <Input value={image} onChange={(event) => setImage(event.target.value)} />
          </Field>
          <Button icon={Check} busy={action.busy} onClick={accept} className="self-start">
            Accept the environment
          </Button>
        </div>
      )}
      <ProblemNote error={action.error} />
    </div>
  );
}

/** Describes a service completely, because whoever accepts the environment agrees to all of it. */
function serviceWords({ image, command, env, health }: NonNullable<Definition["services"]>[string]): string {
  const variables = Object.entries(env ?? {}).map(([name, value]) => `${name}=${value}`);
  const parts = [image, command?.join(" "), variables.join(" "), health && `healthy: ${health}`];
  return parts.filter(Boolean).join("; ");
}

function Facts({ definition, dockerfile }: { definition: Definition; dockerfile: Dockerfile | null }) {
  const { image, build, env, setup, check, network, services, caches } = definition;
  const rows: [name: string, value: string | undefined][] = [
    ["Image", image],
    ["Dockerfile", build?.dockerfile],
    ["Its files", build && (build.context ?? "the repository")],
    ...Object.entries(build?.args ?? {}).map(([name, value]): [string, string] => [`Argument ${name}`, String(value)]),
    ...Object.entries(env ?? {}).map(([name, value]): [string, string] => [name, String(value)]),
    ["Set-up", setup],
    ["Check", check],
    ["Hosts", network?.allow.join(", ")],
    ...Object.entries(services ?? {}).map(([name, service]): [string, string] => [
      `Service ${name}`,
      serviceWords(service),
    ]),
    ["Caches", caches?.join(", ")],
  ];
  const given = rows.filter(([, value]) => value !== undefined);
  return (
    <>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm">
        {given.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-dim">{name}</dt>
            <dd className="min-w-0 break-words font-mono">{value}</dd>
          </div>
        ))}
        {given.length === 0 && <dt className="text-dim">Nothing of it can be used.</dt>}
      </dl>
      {dockerfile && <DockerfileText {...dockerfile} />}
    </>
  );
}

/** Shows exactly what will be built. */
function DockerfileText({ text, image, files, digest, commit }: Dockerfile) {
  return (
    <details className="mt-2">
      <summary className="cursor-pointer text-sm text-dim">
        Dockerfile at <code>{commit.slice(0, 8)}</code>, begins with <code className="break-words">{image}</code>,
        copies {files} {files === 1 ? "file" : "files"} (<code>{digest.slice(0, 12)}</code>)
      </summary>
      <pre
        tabIndex={0}
        className="mt-1 max-h-96 overflow-auto rounded-md bg-sunken p-2 font-mono text-xs whitespace-pre-wrap"
      >
        {text}
      </pre>
    </details>
  );
}
