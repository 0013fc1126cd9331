/**
 * Turns an attachment into what a model can read: its bytes where the model takes them, else its text, else a line that
 * says why it is missing.
 */
import type { Attach } from "./context.ts";
import type { ModelInfo } from "./model.ts";
import { keepEnds } from "./output.ts";
import { type AttachedPart, textPart } from "./parts.ts";
import type { ExecutionInfo } from "./tool.ts";

/**
 * Where attachments are stored. Ids need no check here: when the message was stored, they were checked to be its user's
 * own.
 */
export interface Attachments {
  /** Undefined when the attachment has been deleted. */
  bytes(id: string, execution: ExecutionInfo): Promise<Uint8Array | undefined>;
  /** The text extracted from the attachment; undefined when it has no text. */
  text(id: string, execution: ExecutionInfo): Promise<string | undefined>;
}

/** Combines several stores into one that asks them in turn. Each store knows only its own ids. */
export function firstOf(places: readonly Attachments[]): Attachments {
  const ask = async <T>(one: (place: Attachments) => Promise<T | undefined>): Promise<T | undefined> => {
    for (const place of places) {
      const found = await one(place);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return {
    bytes: (id, execution) => ask((place) => place.bytes(id, execution)),
    text: (id, execution) => ask((place) => place.text(id, execution)),
  };
}

/** The most bytes of a document's text in a message. Longer text keeps its beginning and its end. */
const TEXT_BYTES = 200_000;

const isSupported = ({ type, media_type }: AttachedPart, { images, documents }: ModelInfo): boolean =>
  type === "image" ? images : documents && media_type === "application/pdf";

export const attachTo =
  (model: ModelInfo, attachments: Attachments, execution: ExecutionInfo): Attach =>
  async (part) => {
    const { attachment_id: id, name, type, media_type } = part;
    if (isSupported(part, model)) {
      const data = await attachments.bytes(id, execution);
      return data ? { type, media_type, name, data } : textPart(`[${name} was attached; it has been deleted.]`);
    }
    const text = await attachments.text(id, execution);
    if (text !== undefined) return textPart(`Attached file ${name}:\n\n${keepEnds(text, TEXT_BYTES)}`);
    return textPart(`[${name} (${media_type}) is attached, but ${model.id} cannot read it, and it has no text.]`);
  };
