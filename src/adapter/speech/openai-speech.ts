/** Speech services that speak OpenAI's protocol: OpenAI itself, and local ones such as Kokoro-FastAPI or Speaches. */

import { membersOf } from "../../core/is-object.ts";
import type { SpeechService, Voice } from "./speech.ts";
import { jsonOf, speechFetch } from "./speech-fetch.ts";

interface OpenAiSpeechOptions {
  name: "openai" | "localvoice";
  /** Without a trailing slash; `/audio/speech` follows. */
  baseUrl: string;
  apiKey: string | undefined;
  defaultModel: string;
  defaultVoice: string;
  /** Path that lists the voices. Without it, the voices are OpenAI's fixed ones. */
  voicesPath?: string;
}

/** developers.openai.com, "Text to speech": the voices of gpt-4o-mini-tts. The protocol has no list of them. */
const VOICES = "alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse".split(" ");
/** USD per character of `tts-1` and `tts-1-hd`. Newer models are billed by tokens, which the answer does not report. */
const PRICES: Record<string, number> = { "tts-1": 15e-6, "tts-1-hd": 30e-6 };

export function createOpenAiSpeech(options: OpenAiSpeechOptions): SpeechService {
  const { name, baseUrl, apiKey, defaultModel, defaultVoice, voicesPath } = options;
  const headers: Record<string, string> = apiKey ? { Authorization: `Bearer ${apiKey}` } : {};
  const toVoice = (id: string, label = id): Voice => ({
    id,
    name: label,
    provider: name,
    languages: [],
    preview_url: null,
  });
  return {
    name,
    formats: ["mp3", "wav", "opus"],
    maxCharacters: 4_096,
    async speak({ text, voiceId, model = defaultModel, format, speed, signal }) {
      const body = { model, input: text, voice: voiceId ?? defaultVoice, response_format: format, speed };
      const { bytes } = await speechFetch(name, `${baseUrl}/audio/speech`, {
        method: "POST",
        headers: { ...headers, "Content-Type": "application/json" },
        body: JSON.stringify(body),
        signal,
      });
      const price = name === "openai" ? PRICES[model] : 0;
      return { audio: bytes, costUsd: price === undefined ? null : price * text.length };
    },
    async voices(signal) {
      if (voicesPath === undefined) return VOICES.map((id) => toVoice(id));
      const answer = jsonOf(name, await speechFetch(name, `${baseUrl}${voicesPath}`, { headers, signal }));
      return voiceRows(answer)
        .slice(0, 1_000)
        .map(({ id, label }) => toVoice(id, label));
    },
  };
}

/**
 * Servers answer `{voices: ["a"]}`, `{voices: [{id, name}]}` or `{data: [{id}]}`. Rows of another form are left out.
 */
function voiceRows(answer: unknown): { id: string; label: string }[] {
  const { voices, data } = membersOf(answer);
  const rows = [voices, data, answer].find(Array.isArray) ?? [];
  return rows.flatMap((row: unknown) => {
    if (typeof row === "string") return [{ id: row, label: row }];
    const { id, voice_id, name } = membersOf(row);
    const known = [id, voice_id, name].find((one): one is string => typeof one === "string" && one !== "");
    return known === undefined ? [] : [{ id: known, label: typeof name === "string" ? name : known }];
  });
}
