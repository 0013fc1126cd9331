/** Removes keys from providers' messages. */
import { createMasker } from "../../core/masking.ts";

const MESSAGE_CHARACTERS = 500;
/** Shapes of keys that a provider may echo, in full or with stars in the middle. */
const KEY_SHAPE =
  /\b(?:sk|gsk|xai|fw|tgp|pplx|rk|pk|key|or)[-_][\w*.…-]{8,}|\bAIza[\w*-]{8,}|Bearer\s+[\w.~+/*-]{6,}=*/gi;

/**
 * Makes a function that removes that key in every form and anything that looks like a key, and cuts the text to a
 * message's length.
 */
export function createScrubber(apiKey: string | undefined): (text: string) => string {
  const masker = createMasker(apiKey ? { "provider-key": apiKey } : {});
  return (text) => {
    const clean = masker.text(text).replace(KEY_SHAPE, "[key]").replace(/\s+/g, " ").trim();
    return clean.length > MESSAGE_CHARACTERS ? `${clean.slice(0, MESSAGE_CHARACTERS)}…` : clean;
  };
}
