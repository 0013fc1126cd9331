/** The messages between the server and a text worker. */

export interface TextOperations {
  /** Extracts the readable text of a page; null when the body is not text. */
  readableText: { args: [contentType: string, body: Uint8Array]; value: string | null };
  /** Lists in words where a value (as JSON) does not fit a schema. */
  schemaFaults: { args: [schema: object, json: string]; value: string[] };
}

export type TextOperation = keyof TextOperations;

export interface TextRequest<Operation extends TextOperation = TextOperation> {
  id: number;
  operation: Operation;
  args: TextOperations[Operation]["args"];
}

export type TextReply = { id: number; kind: "value"; value: unknown } | { id: number; kind: "error"; message: string };
