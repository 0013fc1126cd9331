/** Recognizes JSON-RPC 2.0 messages of other programs, so that noise does not reach a library. */
import { isObject } from "./is-object.ts";
import { jsonIn } from "./json-reader.ts";

export type JsonRpcId = string | number | null;

export interface JsonRpcMessage {
  jsonrpc: "2.0";
  id?: JsonRpcId;
  /** Absent in a response. */
  method?: string;
}

export const isJsonRpcId = (value: unknown): value is JsonRpcId =>
  typeof value === "string" || typeof value === "number" || value === null;

/** Whether the value is a request, a notification or a response. Its other members are not checked. */
const isMessage = <Message extends JsonRpcMessage>(value: unknown): value is Message =>
  isObject(value) &&
  value["jsonrpc"] === "2.0" &&
  (value["id"] === undefined || isJsonRpcId(value["id"])) &&
  (typeof value["method"] === "string" || (value["method"] === undefined && isJsonRpcId(value["id"])));

/** @returns undefined when the text is not a message or not JSON. */
export function jsonRpcMessageIn<Message extends JsonRpcMessage>(text: string): Message | undefined {
  const value = jsonIn(text);
  return isMessage<Message>(value) ? value : undefined;
}
