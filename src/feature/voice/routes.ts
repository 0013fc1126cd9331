/** /v1/tts, /v1/tts-calls, and the voice settings of the instance and of agents. */

import { Type as t } from "@sinclair/typebox";
import { notFound } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { assertOwnAgent, type Caller } from "../../http/caller.ts";
import { assertIfMatch } from "../../http/etag.ts";
import { listOf, PageQuery, pageOf, pageOfArray, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import {
  AgentTtsSettings,
  LocalVoiceHealth,
  OwnTtsSettingsUpdate,
  SpeechKept,
  Synthesize,
  TtsCall,
  TtsSettings,
  TtsSettingsUpdate,
  Voice,
} from "./model.ts";
import type { Spoken, Voices } from "./service.ts";
import type { SpeechServices } from "./services.ts";
import type { VoiceSettings } from "./settings.ts";

const Id = t.String({ maxLength: LIMITS.nameCharacters });
const VOICES_MS = 10_000;

interface VoiceRoutesDeps {
  voices: Voices;
  /** Stores the whole sound as an attachment of the caller. */
  keepSpeech(spoken: Spoken, caller: Caller): Promise<SpeechKept>;
  services: SpeechServices;
  settings: VoiceSettings;
}

export function voiceRoutes({ voices, services, settings, keepSpeech }: VoiceRoutesDeps) {
  const hostedVoices = async (userId: string | undefined) =>
    (await services.getHosted(userId)).voices(AbortSignal.timeout(VOICES_MS));
  return tagOperations("voice", [
    ...settingsRoutes(settings),
    defineOperation("listTtsVoices", "GET /v1/tts/voices", {
      access: "user",
      ...pagesOf(Voice),
      summary: "List the voices of the hosted speech service",
      handler: async ({ query, caller }) =>
        pageOfArray(await hostedVoices(caller.userId), pageOf(query), ({ id }) => id),
    }),
    defineOperation("getTtsVoice", "GET /v1/tts/voices/:voice_id", {
      access: "user",
      params: t.Object({ voice_id: Id }),
      answer: Voice,
      summary: "Get a voice of the hosted speech service",
      handler: async ({ params, caller }) => {
        const voice = (await hostedVoices(caller.userId)).find(({ id }) => id === params.voice_id);
        if (!voice) throw notFound("voice");
        return voice;
      },
    }),
    defineOperation("listTtsLocalvoiceProfiles", "GET /v1/tts/localvoice/profiles", {
      access: "user",
      ...pagesOf(Voice),
      summary: "List the voices of the local speech service",
      handler: async ({ query }) =>
        pageOfArray(await services.chooseLocal().voices(AbortSignal.timeout(VOICES_MS)), pageOf(query), ({ id }) => id),
    }),
    defineOperation("getTtsLocalvoiceHealth", "GET /v1/tts/localvoice/health", {
      access: "user",
      answer: LocalVoiceHealth,
      summary: "Check whether the local speech service answers",
      handler: () => services.localHealth(AbortSignal.timeout(VOICES_MS)),
    }),
    defineOperation("synthesizeTt", "POST /v1/internal/tts/synthesize", {
      access: "engine",
      execution: true,
      body: Synthesize,
      summary: "Speak a text as an agent",
      documented: {
        responses: {
          200: {
            description:
              "The speech, streamed as it is made. `X-Tts-Call-Id` is the id of the call in /v1/tts-calls. With `Accept: application/json`, the speech is stored as an attachment instead.",
            content: {
              ...Object.fromEntries(
                ["audio/mpeg", "audio/wav", "audio/ogg"].map((type) => [
                  type,
                  { schema: { type: "string" as const, format: "binary" } },
                ]),
              ),
              "application/json": { schema: SpeechKept as never },
            },
          },
        },
      },
      handler: async ({ body, caller, request }) => {
        assertOwnAgent(caller, body.agent_id);
        const spoken = await voices.synthesize(body, caller, request.signal);
        const { callId, mediaType, audio } = spoken;
        if (/^application\/json\b/.test(request.headers.get("accept") ?? ""))
          return Response.json(await keepSpeech(spoken, caller), { headers: { "Cache-Control": "no-store" } });
        return new Response(audio, {
          headers: { "Content-Type": mediaType, "X-Tts-Call-Id": callId, "Cache-Control": "no-store" },
        });
      },
    }),
    defineOperation("listTtsCalls", "GET /v1/tts-calls", {
      access: "user",
      query: t.Object({ ...PageQuery, agent_id: t.Optional(Id), provider: t.Optional(Id) }),
      answer: listOf(TtsCall),
      summary: "List speech calls, newest first",
      handler: ({ query, caller }) => voices.calls(query, pageOf(query), caller),
    }),
  ]);
}

function settingsRoutes(settings: VoiceSettings) {
  const AgentPath = t.Object({ id: Id });
  return tagOperations("voice", [
    defineOperation("getTtsSettings", "GET /v1/admin/tts-settings", {
      access: "admin",
      answer: TtsSettings,
      summary: "Get the voice settings of the instance",
      handler: ({ answer }) => answer.tag(settings.readInstance()),
    }),
    defineOperation("updateTtsSettings", "PUT /v1/admin/tts-settings", {
      access: "admin",
      strict: true,
      body: TtsSettingsUpdate,
      answer: TtsSettings,
      summary: "Change the voice settings of the instance",
      handler: ({ request, body: input, caller, answer }) => {
        assertIfMatch(request, settings.readInstance());
        return answer.tag(settings.updateInstance(input, caller));
      },
    }),
    defineOperation("getAgentTtsSettings", "GET /v1/agents/:id/tts-settings", {
      access: "user",
      params: AgentPath,
      answer: AgentTtsSettings,
      summary: "Get the voice settings of an agent and those in effect for it",
      handler: ({ params, answer }) => answer.tag(settings.loadAgent(params.id)),
    }),
    defineOperation("updateAgentTtsSettings", "PUT /v1/agents/:id/tts-settings", {
      access: "admin",
      params: AgentPath,
      strict: true,
      body: OwnTtsSettingsUpdate,
      answer: AgentTtsSettings,
      summary: "Change the voice settings of an agent; null restores the instance's setting",
      handler: ({ params, request, body: input, caller, answer }) => {
        assertIfMatch(request, settings.loadAgent(params.id));
        return answer.tag(settings.updateAgent(params.id, input, caller));
      },
    }),
  ]);
}
