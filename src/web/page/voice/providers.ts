/** Common names of speech services. */
import type { Schemas } from "../../api/client.ts";

export const PROVIDERS: [NonNullable<Schemas["TtsSettings"]["provider"]>, string][] = [
  ["openai", "OpenAI"],
  ["elevenlabs", "ElevenLabs"],
  ["localvoice", "Local speech server"],
  ["piper", "piper on this machine"],
  ["espeak-ng", "espeak-ng on this machine"],
];
