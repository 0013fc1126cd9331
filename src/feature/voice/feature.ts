import { join } from "node:path";
import type { ModelKeys } from "../../adapter/model/model-port.ts";
import { createElevenLabsSpeech } from "../../adapter/speech/elevenlabs-speech.ts";
import { createOpenAiSpeech } from "../../adapter/speech/openai-speech.ts";
import { createEspeak, createPiper } from "../../adapter/speech/program-speech.ts";
import { HOUR_MS } from "../../core/clock.ts";
import type { Agents } from "../agents/service.ts";
import type { AttachmentService } from "../attachments/service.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { SettingsService } from "../settings/service.ts";
import { voiceRoutes } from "./routes.ts";
import { createVoices } from "./service.ts";
import { createSpeechServices } from "./services.ts";
import { createVoiceSettings } from "./settings.ts";
import { createSpeechCache } from "./speech-cache.ts";

const TRIM_MS = HOUR_MS;

type Needs = Core & {
  settings: SettingsService;
  providers: { keys: ModelKeys };
  agents: Pick<Agents, "exists">;
  attachments: Pick<AttachmentService, "keep" | "create">;
};

const ENDINGS: Readonly<Record<string, string>> = { "audio/mpeg": "mp3", "audio/wav": "wav", "audio/ogg": "ogg" };

export const voice = defineFeature("voice", (deps: Needs) => {
  const { config, folder, providers, agents } = deps;
  const settings = createVoiceSettings({ ...deps, agentExists: agents.exists, stored: deps.settings });
  const espeak = createEspeak();
  const services = createSpeechServices({
    makers: {
      openai: (baseUrl, apiKey) =>
        createOpenAiSpeech({ name: "openai", baseUrl, apiKey, defaultModel: "gpt-4o-mini-tts", defaultVoice: "alloy" }),
      elevenlabs: (baseUrl, apiKey) => createElevenLabsSpeech({ baseUrl, apiKey }),
      localServer: (baseUrl) =>
        createOpenAiSpeech({
          name: "localvoice",
          baseUrl,
          apiKey: undefined,
          defaultModel: "tts-1",
          defaultVoice: "alloy",
          voicesPath: "/audio/voices",
        }),
      espeak: () => espeak,
      piper: createPiper,
    },
    keyOf: async (providerId, userId) => providers.keys.resolve(providerId, userId),
    providerEnv: config.providerEnv,
    localvoiceUrl: config.localvoiceUrl,
    piperVoice: config.piperVoice,
    findPreferred: () => settings.readInstance().provider,
  });
  const cache = createSpeechCache(join(folder.cache, "speech"));
  const voices = createVoices({ ...deps, settings, services, cache });
  return {
    routes: () =>
      voiceRoutes({
        voices,
        services,
        settings,
        async keepSpeech({ callId, mediaType: media_type, audio }, caller) {
          const bytes = new Uint8Array(await new Response(audio).arrayBuffer());
          const name = `${callId}.${ENDINGS[media_type]}`;
          const file = await deps.attachments.keep({ name, bytes, media_type }, caller);
          const { id } = deps.store.write(() => deps.attachments.create(file, caller));
          return { attachment_id: id, call_id: callId, media_type, size_bytes: bytes.byteLength };
        },
      }),
    prunes: [{ keep: "llm_calls_days", run: voices.prune }],
    duties: [{ name: "speech-cache", everyMs: TRIM_MS, run: cache.trim }],
    handOver: voices.handOver,
  };
});
