/** The forms for a file, which is read, and for a meeting's transcript, which an agent processes. */

import { type DragEvent, useState } from "react";
import { useLocation } from "wouter";
import { client, must, toMultipart } from "../../api/client.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { Field, Input, InputField, TextArea } from "../../ui/field.tsx";
import { ProjectField } from "../../ui/pickers.tsx";

const FOR_ALL = "Everybody who sees the project reads it.";

export function AddDocument({ onClose }: { onClose(): void }) {
  return (
    <FormDialog
      title="Add a document"
      word="Add"
      changes={["/v1/documents"]}
      said="It is being read."
      submit={async ({ all, text }) => {
        const form = all();
        for (const name of ["title", "project_id"])
          if (text(name)) form.set(name, text(name));
          else form.delete(name);
        await must(client.POST("/v1/ingest/document", toMultipart(form)));
      }}
      onClose={onClose}
    >
      <Field label="File" hint="PDF, DOCX, HTML, Markdown or text; 50 MiB at most." name="file">
        <Input type="file" required accept=".pdf,.docx,.html,.htm,.md,.txt" className="py-1.5" />
      </Field>
      <InputField label="Title" hint="Left empty: the document's own." name="title" maxLength={300} />
      <ProjectField none="None: mine alone" hint={FOR_ALL} />
    </FormDialog>
  );
}

export function AddTranscript({ onClose }: { onClose(): void }) {
  const [transcript, setTranscript] = useState("");
  const [, navigate] = useLocation();
  const take = (file: File | undefined) => file && void file.text().then(setTranscript);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  };
  return (
    <FormDialog
      title="Add a transcript"
      word="Add"
      changes={["/v1/documents"]}
      submit={async ({ entries, pickFilled }) => {
        const [participants, tags] = [entries("participants"), entries("tags")];
        const body = {
          transcript,
          ...pickFilled("title", "project_id"),
          ...(participants.length > 0 ? { participants } : {}),
          ...(tags.length > 0 ? { tags } : {}),
        };
        const { document_id } = await must(client.POST("/v1/ingest/transcript", { body }));
        return () => navigate(`/documents/${document_id}`);
      }}
      onClose={onClose}
      wide
    >
      <p className="mb-3 text-dim">
        It is kept as a document, and the scribe writes summary, decisions and action items to its memory.
      </p>
      <Field label="What was said" hint="Paste it, or drop a text file here." name="transcript">
        <TextArea
          rows={9}
          required
          value={transcript}
          onChange={(event) => setTranscript(event.target.value)}
          onDragOver={(event) => event.preventDefault()}
          onDrop={drop}
          placeholder={"Ann: Prices are cents from now on.\nBen: I tell the others."}
        />
      </Field>
      <InputField label="Title" name="title" maxLength={300} placeholder="Weekly meeting" />
      <div className="grid gap-x-3 sm:grid-cols-2">
        <InputField label="Who was there" hint="Names, separated by commas." name="participants" />
        <InputField label="Tags" hint="Separated by commas." name="tags" />
      </div>
      <ProjectField none="None: mine alone" hint={FOR_ALL} />
    </FormDialog>
  );
}
