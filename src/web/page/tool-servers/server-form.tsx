/** The form for a new or existing tool server. Values are shown masked; unchanged ones are kept. */

import { useState } from "react";
import { client, must } from "../../api/client.ts";
import type { RowOf } from "../../api/queries.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { Field, Input, InputField, Select, TextArea } from "../../ui/field.tsx";
import type { Fields } from "../../ui/form.tsx";

export type Server = RowOf<"/v1/mcp">;
type Transport = Server["transport"];

/** Parses `NAME=value` lines. */
const valuesOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line.includes("="))
      .map((line) => [line.slice(0, line.indexOf("=")).trim(), line.slice(line.indexOf("=") + 1).trim()]),
  );
const linesOf = (values: Record<string, string>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join("\n");

/** The OAuth client that was registered by hand; none if its id is empty. */
const clientOf = (text: Fields["text"]): Server["oauth"] =>
  text("oauth_client_id")
    ? {
        client_id: text("oauth_client_id"),
        issuer: text("oauth_issuer"),
        ...(text("oauth_client_secret") ? { client_secret: text("oauth_client_secret") } : {}),
      }
    : null;

/** How the server is reached: as a local program or as a remote service. */
function reachOf(local: boolean, { choice, text, raw, number }: Fields) {
  const values = valuesOf(raw("values"));
  const memoryMb = number("memory_mb");
  if (!local) return { url: text("url"), headers: values, oauth: clientOf(text) };
  return {
    command: text("command") || null,
    args: raw("args").split("\n").filter(Boolean),
    env: values,
    image: text("image") || null,
    network: choice<Server["network"]>("network"),
    ...(memoryMb === undefined ? {} : { memory_mb: memoryMb }),
  };
}

interface Props {
  /** The server to change; undefined for a new one. */
  server: Server | undefined;
  onClose(): void;
  onSaved(server: Server): void;
}

export function ServerForm({ server, onClose, onSaved }: Props) {
  const [transport, setTransport] = useState<Transport>(server?.transport ?? "http");
  const local = transport === "stdio";
  const submit = async (fields: Fields) => {
    const { text, number } = fields;
    const seconds = number("timeout_s");
    const common = {
      name: text("name") || text("id") || server?.id || "",
      description: text("description"),
      transport,
      ...(seconds === undefined ? {} : { timeout_ms: Math.round(seconds * 1_000) }),
      ...reachOf(local, fields),
      elicitation: fields.choice<Server["elicitation"]>("elicitation"),
    };
    const saved = server
      ? await must(client.PUT("/v1/mcp/{id}", { params: { path: { id: server.id } }, body: common }))
      : await must(client.POST("/v1/mcp", { body: { ...common, id: text("id"), agents: ["*"] } }));
    return () => onSaved(saved);
  };
  return (
    <FormDialog
      title={server ? `Change ${server.name || server.id}` : "Add a tool server"}
      word={server ? "Save" : "Add"}
      changes={["/v1/mcp"]}
      submit={submit}
      onClose={onClose}
    >
      {server ? (
        <InputField label="Name" name="name" required maxLength={200} defaultValue={server.name} />
      ) : (
        <Field label="Id" hint="Its tools are called id__tool." name="id">
          <Input required spellCheck={false} placeholder="tickets" />
        </Field>
      )}
      <InputField label="Description" name="description" maxLength={4_000} defaultValue={server?.description} />
      <Field label="Kind" name="transport">
        <Select value={transport} onPick={setTransport}>
          <option value="http">A service (HTTP)</option>
          <option value="sse">A service (HTTP with SSE, older)</option>
          <option value="stdio">A program (stdio)</option>
        </Select>
      </Field>
      {local ? (
        <ProgramFields server={server} />
      ) : (
        <InputField
          label="Address"
          hint={server ? "Changing the address drops the headers and the log-in of this one." : undefined}
          name="url"
          required
          spellCheck={false}
          defaultValue={server?.url ?? ""}
          placeholder="https://tickets.example.org/mcp"
        />
      )}
      <Field
        label={local ? "Environment" : "Headers"}
        hint={`NAME=value, one per line. \${secret:NAME} stands for a stored secret.${server ? " Masked values that you leave stay." : ""}`}
        name={local ? "env" : "headers"}
      >
        <TextArea
          key={local ? "env" : "headers"}
          name="values"
          rows={2}
          spellCheck={false}
          className="font-mono"
          defaultValue={server ? linesOf(local ? server.env : server.headers) : ""}
        />
      </Field>
      {!local && <OAuthFields server={server} />}
      <Field
        label="Forms that it asks for in the middle of a call"
        hint="With its defaults: filled in where they answer all that is required, declined otherwise."
        name="elicitation"
      >
        <Select defaultValue={server?.elicitation ?? "off"}>
          <option value="off">Nobody answers them</option>
          <option value="defaults">Answered with its own defaults</option>
        </Select>
      </Field>
      <Field label="Time for one call, seconds" name="timeout_ms">
        <Input
          name="timeout_s"
          type="number"
          min={0.1}
          step="any"
          inputMode="decimal"
          defaultValue={server ? server.timeout_ms / 1_000 : ""}
          placeholder="the server's default"
        />
      </Field>
    </FormDialog>
  );
}

/** Needed only for a service that does not let Skep register itself. */
function OAuthFields({ server }: ProgramProps) {
  const kept = server?.oauth;
  return (
    <details className="mb-3 rounded-lg border border-line px-3 py-2" open={Boolean(kept)}>
      <summary className="text-sm font-medium">Log-in with a client of your own</summary>
      <p className="my-2 text-sm text-dim">Left empty, Skep registers itself where the service wants a log-in.</p>
      <Field label="Client id" name="oauth/client_id">
        <Input name="oauth_client_id" spellCheck={false} defaultValue={kept?.client_id ?? ""} />
      </Field>
      <Field label="Authorization server" hint="Its issuer. No other is given the client." name="oauth/issuer">
        <Input
          name="oauth_issuer"
          spellCheck={false}
          defaultValue={kept?.issuer ?? ""}
          placeholder="https://login.example.org"
        />
      </Field>
      <Field
        label="Client secret"
        hint={`\${secret:NAME} stands for a stored secret. A masked value that you leave stays.`}
        name="oauth/client_secret"
      >
        <Input
          name="oauth_client_secret"
          spellCheck={false}
          autoComplete="off"
          defaultValue={kept?.client_secret ?? ""}
        />
      </Field>
    </details>
  );
}

interface ProgramProps {
  server: Server | undefined;
}

function ProgramFields({ server }: ProgramProps) {
  return (
    <>
      <Field label="Container image" hint="Left empty, it runs on the host, where the server allows that." name="image">
        <Input spellCheck={false} defaultValue={server?.image ?? ""} />
      </Field>
      <InputField label="Program" name="command" spellCheck={false} defaultValue={server?.command ?? ""} />
      <Field label="Arguments" hint="One per line." name="args">
        <TextArea rows={2} spellCheck={false} className="font-mono" defaultValue={server?.args.join("\n")} />
      </Field>
      <div className="grid gap-x-3 sm:grid-cols-2">
        <Field label="Network of its container" name="network">
          <Select defaultValue={server?.network ?? "bridge"}>
            <option value="none">None</option>
            <option value="bridge">The internet</option>
          </Select>
        </Field>
        <Field label="Memory, MB" name="memory_mb">
          <Input
            type="number"
            min={16}
            inputMode="numeric"
            defaultValue={server?.memory_mb ?? ""}
            placeholder="the server's default"
          />
        </Field>
      </div>
    </>
  );
}
