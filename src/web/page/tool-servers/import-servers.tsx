/**
 * Imports tool servers from the file of an editor or desktop program, which is pasted, dropped or chosen. Nothing is
 * started.
 */

import { useState } from "react";
import { client, must, type Schemas } from "../../api/client.ts";
import { FormDialog, stay } from "../../kit/form-dialog.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, InputField, TextArea } from "../../ui/field.tsx";
import { pluralize } from "../../ui/format.ts";
import { TextLink } from "../../ui/link.tsx";

type Imported = Schemas["ImportMcpAnswer"];

const EXAMPLE = `{"mcpServers": {"tickets": {"url": "https://tickets.example.org/mcp"}}}`;

/** @throws Error that says where the text is not JSON. */
function parseConfig(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${(error as Error).message}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Error("This is not an object with mcpServers.");
}

export function ImportServers({ onClose }: { onClose(): void }) {
  const [text, setText] = useState("");
  const [imported, setImported] = useState<Imported>();
  const [over, setOver] = useState(false);
  const take = (file: File | undefined) => file && void file.text().then(setText);
  if (imported) return <Result imported={imported} onClose={onClose} />;
  return (
    <FormDialog
      title="Import tool servers"
      word="Import"
      changes={["/v1/mcp"]}
      submit={async (fields) => {
        const image = fields.text("image");
        const body = { config: parseConfig(text), ...(image ? { image } : {}) };
        setImported(await must(client.POST("/v1/mcp/import", { body })));
        return stay;
      }}
      onClose={onClose}
      wide
    >
      <p className="mb-3 text-dim">
        Takes a file with <code>mcpServers</code> (or <code>servers</code>), or a <code>server.json</code> of the MCP
        registry. What is imported is switched off until you switch it on.
      </p>
      <InputField
        label="File"
        type="file"
        accept=".json,application/json"
        className="py-1.5"
        onChange={(event) => take(event.target.files?.[0])}
      />
      <Field label="Its text" hint="Paste it, or drop the file here." name="config">
        <TextArea
          rows={9}
          required
          spellCheck={false}
          value={text}
          placeholder={EXAMPLE}
          onChange={(event) => setText(event.target.value)}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(event) => {
            event.preventDefault();
            setOver(false);
            take(event.dataTransfer.files[0]);
          }}
          className={`font-mono ${over ? "border-accent" : ""}`}
        />
      </Field>
      <InputField
        label="Container image of its programs"
        hint="Left empty, programs run on the host, where the server allows that."
        name="image"
        spellCheck={false}
      />
    </FormDialog>
  );
}

function Result({ imported: { created, left_out }, onClose }: { imported: Imported; onClose(): void }) {
  return (
    <Dialog title="Imported" onClose={onClose}>
      <p role="status" className="mb-2">
        {pluralize(created.length, "server")} added, switched off.
      </p>
      <ul className="mb-3 list-disc pl-5">
        {created.map(({ id, name }) => (
          <li key={id}>
            <TextLink href={`/tool-servers/${id}`}>{name || id}</TextLink>
          </li>
        ))}
      </ul>
      {left_out.length > 0 && (
        <>
          <p className="mb-1 font-medium">Left out</p>
          <ul className="mb-3 list-disc pl-5">
            {left_out.map(({ name, reason }) => (
              <li key={name}>
                <b>{name}</b>: {reason}
              </li>
            ))}
          </ul>
        </>
      )}
      <div className="flex justify-end">
        <Button label="Close" kind="primary" onClick={onClose} />
      </div>
    </Dialog>
  );
}
