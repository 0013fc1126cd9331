/** Attachments as a model reads them: as they are where it takes them, else their text, else a line that says why not. */
import type { Attach } from "./context.ts";
import type { ModelInfo } from "./model.ts";
import { keepEnds } from "./output.ts";
import { type AttachedPart, textPart } from "./parts.ts";
import type { ExecutionInfo } from "./tool.ts";

/** Where attachments are kept. Ids were checked when the message was stored: they are its user's own. */
export interface Attachments {
  /** Undefined when it is gone. */
  bytes(id: string, execution: ExecutionInfo): Promise<Uint8Array | undefined>;
  /** What was read out of it; undefined when there is no text in it. */
  text(id: string, execution: ExecutionInfo): Promise<string | undefined>;
}

/** Asks one after another: each knows its own ids. */
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

/** Bytes of a document's text that go into a message; the ends are kept. */
const TEXT_BYTES = 200_000;

const taken = ({ type, media_type }: AttachedPart, { images, documents }: ModelInfo): boolean =>
  type === "image" ? images : documents && media_type === "application/pdf";

export const attachTo =
  (model: ModelInfo, attachments: Attachments, execution: ExecutionInfo): Attach =>
  async (part) => {
    const { attachment_id: id, name, type, media_type } = part;
    if (taken(part, model)) {
      const data = await attachments.bytes(id, execution);
      return data ? { type, media_type, name, data } : textPart(`[${name} was attached; it has been deleted.]`);
    }
    const text = await attachments.text(id, execution);
    if (text !== undefined) return textPart(`Attached file ${name}:\n\n${keepEnds(text, TEXT_BYTES)}`);
    return textPart(`[${name} (${media_type}) is attached, but ${model.id} cannot read it, and it has no text.]`);
  };
