/** Voices, the settings that choose one, and the log of synthesized speech, as the API shows them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, orNull } from "../../core/schema.ts";

const strict = { additionalProperties: false } as const;
const Name = t.String({ minLength: 1, maxLength: LIMITS.nameCharacters });

export const SpeechProvider = oneOf("openai", "elevenlabs", "localvoice", "espeak-ng", "piper");
export type SpeechProvider = Static<typeof SpeechProvider>;
const SpeechFormat = oneOf("mp3", "wav", "opus");
export const MEDIA_TYPES = { mp3: "audio/mpeg", wav: "audio/wav", opus: "audio/ogg" } as const;

const Speed = t.Number({ minimum: 0.25, maximum: 4, description: "Speed of speech; 1 is the voice's own speed." });

export const TtsSettings = t.Object(
  {
    enabled: t.Boolean({
      description: "Whether agents can speak. If off, no agent speaks, whatever its own settings are.",
    }),
    provider: orNull(SpeechProvider),
    voice_id: orNull(Name),
    model: orNull(Name),
    format: SpeechFormat,
    speed: Speed,
    max_characters: t.Integer({ minimum: 1, maximum: 100_000, description: "Most characters of one call's text." }),
  },
  { ...strict, description: "Applies to agents that have no voice settings of their own." },
);
export type TtsSettings = Static<typeof TtsSettings>;
export const TtsSettingsUpdate = t.Partial(TtsSettings, strict);

export const DEFAULT_TTS_SETTINGS: TtsSettings = {
  enabled: false,
  provider: null,
  voice_id: null,
  model: null,
  format: "mp3",
  speed: 1,
  max_characters: 4_000,
};

/** An agent's own choices; null means the instance's setting. */
export const OwnTtsSettings = t.Object(
  {
    enabled: orNull(t.Boolean()),
    provider: orNull(SpeechProvider),
    voice_id: orNull(Name),
    model: orNull(Name),
    format: orNull(SpeechFormat),
    speed: orNull(Speed),
  },
  strict,
);
export type OwnTtsSettings = Static<typeof OwnTtsSettings>;
export const OwnTtsSettingsUpdate = t.Partial(OwnTtsSettings, strict);

export const AgentTtsSettings = t.Object({
  agent_id: t.String(),
  ...OwnTtsSettings.properties,
  effective: t.Composite([TtsSettings], { description: "The agent's settings in effect." }),
});
export type AgentTtsSettings = Static<typeof AgentTtsSettings>;

export const Voice = t.Object({
  id: t.String(),
  name: t.String(),
  provider: t.String(),
  languages: t.Array(t.String()),
  preview_url: orNull(t.String()),
});

export const LocalVoiceHealth = t.Object({
  reachable: t.Boolean(),
  url: orNull(t.String()),
  detail: orNull(t.String({ description: "Why the service cannot be reached, or which program speaks." })),
});
export type LocalVoiceHealth = Static<typeof LocalVoiceHealth>;

export const Synthesize = t.Object({
  text: t.String({ minLength: 1, maxLength: 100_000, description: "Plain text or Markdown; code is not read aloud." }),
  agent_id: t.String({ maxLength: LIMITS.nameCharacters }),
  voice_id: t.Optional(Name),
  format: t.Optional(SpeechFormat),
});
export type Synthesize = Static<typeof Synthesize>;

export const TtsCall = t.Object({
  id: t.String(),
  agent_id: t.String(),
  user_id: orNull(t.String()),
  provider: t.String(),
  voice_id: orNull(t.String()),
  characters: t.Integer(),
  bytes: t.Integer(),
  cost_usd: orNull(
    t.Number({ description: "Cost of the call; null if the service does not report it and no price is known." }),
  ),
  cached: t.Boolean({ description: "Whether the speech came from the cache, so that nothing was requested or paid." }),
  duration_ms: t.Integer(),
  error: orNull(t.Object({ code: t.String(), message: t.String() })),
  created_at: t.String({ format: "date-time" }),
});
export type TtsCall = Static<typeof TtsCall>;

export const SpeechKept = t.Object(
  {
    attachment_id: t.String(),
    call_id: t.String({ description: "Id of the call in /v1/tts-calls." }),
    media_type: t.String(),
    size_bytes: t.Integer(),
  },
  { title: "SpeechKept" },
);
export type SpeechKept = Static<typeof SpeechKept>;
