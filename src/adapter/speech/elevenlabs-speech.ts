/** ElevenLabs' API: elevenlabs.io/docs/api-reference, "Create speech" and "List voices". */

import { listIn, membersOf, textIn } from "../../core/is-object.ts";
import type { SpeechFormat, SpeechService, Voice } from "./speech.ts";
import { jsonOf, speechFetch } from "./speech-fetch.ts";

const OUTPUT: Partial<Record<SpeechFormat, string>> = { mp3: "mp3_44100_128", opus: "opus_48000_64" };
/** USD per character credit on the pay-as-you-go plan. */
const CREDIT_USD = 0.0003;
const DEFAULT_VOICE = "21m00Tcm4TlvDq8ikWAM";
const DEFAULT_MODEL = "eleven_multilingual_v2";

export function createElevenLabsSpeech({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }): SpeechService {
  const name = "elevenlabs";
  const headers = { "xi-api-key": apiKey };
  return {
    name,
    formats: ["mp3", "opus"],
    maxCharacters: 4_096,
    async speak({ text, voiceId = DEFAULT_VOICE, model = DEFAULT_MODEL, format, speed, signal }) {
      const url = `${baseUrl}/v1/text-to-speech/${encodeURIComponent(voiceId)}?output_format=${OUTPUT[format]}`;
      // ElevenLabs accepts this range; a speed outside is set to its nearest end.
      const voice_settings = { speed: Math.min(1.2, Math.max(0.7, speed)) };
      const { bytes, headers: said } = await speechFetch(name, url, {
        method: "POST",
        headers: { ...headers, "Content-Type": "application/json" },
        body: JSON.stringify({ text, model_id: model, voice_settings }),
        signal,
      });
      const credits = Number(said.get("character-cost") ?? Number.NaN);
      const known = Number.isFinite(credits) && credits >= 0 && credits <= 100 * text.length;
      return { audio: bytes, costUsd: known ? credits * CREDIT_USD : null };
    },
    async voices(signal) {
      const answer = jsonOf(name, await speechFetch(name, `${baseUrl}/v1/voices`, { headers, signal }));
      return listIn(answer, "voices").slice(0, 1_000).flatMap(voiceOf);
    },
  };
}

function voiceOf(row: unknown): Voice[] {
  const id = textIn(row, "voice_id");
  if (id === undefined) return [];
  const language = textIn(membersOf(row)["labels"], "language");
  const preview = textIn(row, "preview_url");
  return [
    {
      id,
      name: textIn(row, "name") ?? id,
      provider: "elevenlabs",
      languages: language === undefined ? [] : [language],
      preview_url: preview?.startsWith("https://") ? preview : null,
    },
  ];
}
