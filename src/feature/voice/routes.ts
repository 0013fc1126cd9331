/** /v1/tts, /v1/tts-calls, and the voice settings of the instance and of agents. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { notFound } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Base } from "../../http/base.ts";
import { assertOwnAgent, type Caller } from "../../http/caller.ts";
import { assertIfMatch } from "../../http/etag.ts";
import { listOf, PageQuery, pageOf, pageOfArray } from "../../http/list.ts";
import { readStrict, strictBody } from "../../http/strict-body.ts";
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

const tags = ["voice"];
const Id = t.String({ maxLength: LIMITS.nameCharacters });
const VOICES_MS = 10_000;

export interface VoiceRoutesDeps {
  voices: Voices;
  /** The whole sound as an attachment of the caller's. */
  kept(spoken: Spoken, caller: Caller): Promise<SpeechKept>;
  services: SpeechServices;
  settings: VoiceSettings;
}

export function voiceRoutes(base: Base, { voices, services, settings, kept }: VoiceRoutesDeps) {
  const hostedVoices = async (userId: string | undefined) =>
    (await services.hosted(userId)).voices(AbortSignal.timeout(VOICES_MS));
  return new Elysia({ name: "skep/voice" })
    .use(base)
    .use(settingsRoutes(base, settings))
    .get(
      "/v1/tts/voices",
      async ({ query, caller }) => pageOfArray(await hostedVoices(caller.userId), pageOf(query), ({ id }) => id),
      {
        access: "user",
        query: t.Object(PageQuery),
        response: { 200: listOf(Voice) },
        detail: { tags, summary: "Voices of the hosted speech service" },
      },
    )
    .get(
      "/v1/tts/voices/:voice_id",
      async ({ params, caller }) => {
        const voice = (await hostedVoices(caller.userId)).find(({ id }) => id === params.voice_id);
        if (!voice) throw notFound("voice");
        return voice;
      },
      {
        access: "user",
        params: t.Object({ voice_id: Id }),
        response: { 200: Voice },
        detail: { tags, summary: "One voice of the hosted speech service" },
      },
    )
    .get(
      "/v1/tts/localvoice/profiles",
      async ({ query }) =>
        pageOfArray(await services.local().voices(AbortSignal.timeout(VOICES_MS)), pageOf(query), ({ id }) => id),
      {
        access: "user",
        query: t.Object(PageQuery),
        response: { 200: listOf(Voice) },
        detail: { tags, summary: "Voices of the local speech service" },
      },
    )
    .get("/v1/tts/localvoice/health", () => services.localHealth(AbortSignal.timeout(VOICES_MS)), {
      access: "user",
      response: { 200: LocalVoiceHealth },
      detail: { tags, summary: "Whether the local speech service answers" },
    })
    .post(
      "/v1/internal/tts/synthesize",
      async ({ body, caller, request }) => {
        assertOwnAgent(caller, body.agent_id);
        const spoken = await voices.synthesize(body, caller, request.signal);
        const { callId, mediaType, audio } = spoken;
        if (/^application\/json\b/.test(request.headers.get("accept") ?? ""))
          return Response.json(await kept(spoken, caller), { headers: { "Cache-Control": "no-store" } });
        return new Response(audio, {
          headers: { "Content-Type": mediaType, "X-Tts-Call-Id": callId, "Cache-Control": "no-store" },
        });
      },
      {
        access: "engine",
        execution: true,
        body: Synthesize,
        detail: {
          tags,
          summary: "Speak a text as an agent",
          responses: {
            200: {
              description:
                "The sound, as it is made. `X-Tts-Call-Id` names the row of /v1/tts-calls. With `Accept: application/json` it is kept as an attachment.",
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
      },
    )
    .get("/v1/tts-calls", ({ query, caller }) => voices.calls(query, pageOf(query), caller), {
      access: "user",
      query: t.Object({ ...PageQuery, agent_id: t.Optional(Id), provider: t.Optional(Id) }),
      response: { 200: listOf(TtsCall) },
      detail: { tags, summary: "Speech that was made, newest first" },
    });
}

function settingsRoutes(base: Base, settings: VoiceSettings) {
  const AgentPath = t.Object({ id: Id });
  return new Elysia({ name: "skep/voice-settings" })
    .use(base)
    .get("/v1/admin/tts-settings", ({ answer }) => answer.tagged(settings.instance()), {
      access: "admin",
      response: { 200: TtsSettings },
      detail: { tags, summary: "Voice settings of the instance" },
    })
    .put(
      "/v1/admin/tts-settings",
      async ({ request, caller, answer }) => {
        const input = await readStrict(request, TtsSettingsUpdate);
        assertIfMatch(request, settings.instance());
        return answer.tagged(settings.updateInstance(input, caller));
      },
      {
        access: "admin",
        parse: "none",
        response: { 200: TtsSettings },
        detail: {
          tags,
          summary: "Change the voice settings of the instance",
          requestBody: strictBody(TtsSettingsUpdate),
        },
      },
    )
    .get("/v1/agents/:id/tts-settings", ({ params, answer }) => answer.tagged(settings.agent(params.id)), {
      access: "user",
      params: AgentPath,
      response: { 200: AgentTtsSettings },
      detail: { tags, summary: "Voice settings of an agent, and those in effect for it" },
    })
    .put(
      "/v1/agents/:id/tts-settings",
      async ({ params, request, caller, answer }) => {
        const input = await readStrict(request, OwnTtsSettingsUpdate);
        assertIfMatch(request, settings.agent(params.id));
        return answer.tagged(settings.updateAgent(params.id, input, caller));
      },
      {
        access: "admin",
        parse: "none",
        params: AgentPath,
        response: { 200: AgentTtsSettings },
        detail: {
          tags,
          summary: "Change the voice settings of an agent; null follows the instance",
          requestBody: strictBody(OwnTtsSettingsUpdate),
        },
      },
    );
}
