/** What the server and a text worker say to each other. */

export interface TextOperations {
  /** A page as readable text; null when it is not one. */
  readableText: { args: [contentType: string, body: Uint8Array]; value: string | null };
  /** What of a value (as JSON) does not fit a schema. */
  schemaFaults: { args: [schema: object, json: string]; value: string[] };
}

export type TextOperation = keyof TextOperations;

export interface TextRequest<Operation extends TextOperation = TextOperation> {
  id: number;
  operation: Operation;
  args: TextOperations[Operation]["args"];
}

export type TextReply = { id: number; kind: "value"; value: unknown } | { id: number; kind: "error"; message: string };
