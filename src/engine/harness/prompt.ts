/**
 * What an external agent gets in a turn: text, and the attached files that both the program and its model can read.
 */
import { attachTo } from "../attachments.ts";
import type { StoredMessage } from "../execution.ts";
import type { LoopInput } from "../loop.ts";
import { type AttachedPart, textOf, textPart } from "../parts.ts";
import type { PromptPart } from "./port.ts";

export interface Prompt {
  text: string;
  attached: readonly AttachedPart[];
}

/** What people and other agents said after the message at position `seq`. */
export function saidAfter(messages: readonly StoredMessage[], seq: number): Prompt {
  const said = messages.flatMap((message) => (message.role === "user" && message.seq > seq ? [message.parts] : []));
  return {
    text: said.map(textOf).join("\n\n"),
    attached: said.flat().flatMap((part) => (part.type === "text" ? [] : [part])),
  };
}

/** @param takesPictures whether the program accepts pictures; its model must be able to see them too. */
export async function promptParts(
  { execution, ports, model }: Pick<LoopInput, "execution" | "ports" | "model">,
  { text, attached }: Prompt,
  takesPictures: boolean,
): Promise<PromptPart[]> {
  const info = ports.models.info(model);
  const reads = { ...info, images: info.images && takesPictures, documents: false };
  const parts: PromptPart[] = await Promise.all(attached.map(attachTo(reads, ports.attachments, execution)));
  return text === "" ? parts : [textPart(text), ...parts];
}
