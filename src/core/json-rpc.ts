/** Messages of JSON-RPC 2.0 as other programs send them: told from noise before a library sees them. */
import { isObject } from "./is-object.ts";
import { jsonIn } from "./json-reader.ts";

export type JsonRpcId = string | number | null;

export interface JsonRpcMessage {
  jsonrpc: "2.0";
  id?: JsonRpcId;
  /** Absent in an answer. */
  method?: string;
}

export const isJsonRpcId = (value: unknown): value is JsonRpcId =>
  typeof value === "string" || typeof value === "number" || value === null;

/** A request, a notification, or an answer to a question; the rest of it is not looked at. */
const isMessage = <Message extends JsonRpcMessage>(value: unknown): value is Message =>
  isObject(value) &&
  value["jsonrpc"] === "2.0" &&
  (value["id"] === undefined || isJsonRpcId(value["id"])) &&
  (typeof value["method"] === "string" || (value["method"] === undefined && isJsonRpcId(value["id"])));

/** @returns undefined for what is no message, or no JSON. */
export function jsonRpcMessageIn<Message extends JsonRpcMessage>(text: string): Message | undefined {
  const value = jsonIn(text);
  return isMessage<Message>(value) ? value : undefined;
}
