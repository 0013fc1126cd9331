/**
 * Speech of agents. The service that the settings choose makes it piece by piece; it is cached, and logged with its
 * cost.
 */
import type { SpeechFormat, SpeechService } from "../../adapter/speech/speech.ts";
import { toTimestamp } from "../../core/clock.ts";
import { conflict, invalidField, isProblem, messageOf, unavailable } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Masking } from "../../core/masking.ts";
import { toNano, toUsd } from "../../core/money.ts";
import { joinWavs } from "../../core/wav.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listById, type Page } from "../../http/list.ts";
import { removeOld } from "../../store/remove-old.ts";
import { ttsCalls } from "../../store/tables/voice.ts";
import { buildReadCondition, WHOSE } from "../../store/whose.ts";
import type { Core } from "../feature.ts";
import { MEDIA_TYPES, type Synthesize, type TtsCall } from "./model.ts";
import type { SpeechServices } from "./services.ts";
import type { VoiceSettings } from "./settings.ts";
import type { SpeechCache } from "./speech-cache.ts";
import { piecesOf, spokenText } from "./spoken-text.ts";

export interface Spoken {
  callId: string;
  mediaType: string;
  /** The sound as it is made. Its first piece exists already. */
  audio: ReadableStream<Uint8Array>;
}

interface CallFilter {
  agent_id?: string | undefined;
  provider?: string | undefined;
}

export type Voices = ReturnType<typeof createVoices>;

interface VoicesDeps extends Pick<Core, "store" | "clock"> {
  masking: Pick<Masking, "text">;
  settings: VoiceSettings;
  services: SpeechServices;
  cache: SpeechCache;
}

type Row = typeof ttsCalls.$inferSelect;

const present = ({ cost_nano, ...row }: Row): TtsCall => ({
  ...row,
  cost_usd: cost_nano === null ? null : toUsd(cost_nano),
});

export function createVoices({ store, clock, masking, settings, services, cache }: VoicesDeps) {
  const rows = store.rows(ttsCalls);
  const log = (row: Omit<Row, "created_at">): void =>
    store.write(() => rows.insert({ ...row, created_at: toTimestamp(clock.now()) }));

  /** What to say, with which service and voice. @throws Problem */
  async function planOf({ text, agent_id, voice_id, format }: Synthesize, userId: string | undefined) {
    const chosen = settings.loadAgent(agent_id).effective;
    if (!chosen.enabled)
      throw conflict("Voice is switched off for this agent. An administrator switches it on.", "voice_disabled");
    if (chosen.provider === null)
      throw unavailable("provider_not_configured", "No speech service is chosen. Set one in the voice settings.");
    // Secrets are masked: the text may go to an outside service, and it is stored.
    const said = masking.text(spokenText(text));
    if (said === "") throw invalidField("/text", "Nothing in the text is read aloud: code and links are left out");
    if (said.length > chosen.max_characters)
      throw invalidField(
        "/text",
        `At most ${chosen.max_characters} characters are read aloud; this has ${said.length}`,
      );
    const service = await services.of(chosen.provider, userId);
    return {
      said,
      service,
      provider: chosen.provider,
      speed: chosen.speed,
      voiceId: voice_id ?? chosen.voice_id ?? undefined,
      model: chosen.model ?? undefined,
      format: formatOf(service, format, chosen.format),
    };
  }

  return {
    /**
     * @throws Problem 404 for an unknown agent, 409 `voice_disabled`, 422 when there is nothing to say, too much, or
     * the service does not make the format, 503 when the service is not set up or gives nothing.
     */
    async synthesize(request: Synthesize, caller: Caller, signal: AbortSignal): Promise<Spoken> {
      const started = performance.now();
      const userId = caller.userId;
      const plan = await planOf(request, userId);
      const { said, service, voiceId, model, format, speed, provider } = plan;
      const id = newId("ttsCall");
      const row = { id, agent_id: request.agent_id, user_id: userId ?? null, provider, voice_id: voiceId ?? null };
      const logCall = (bytes: number, costUsd: number | null, cached: boolean, error: Row["error"] = null) =>
        log({
          ...row,
          bytes,
          cached,
          error,
          characters: said.length,
          cost_nano: costUsd === null ? null : toNano(costUsd),
          duration_ms: Math.round(performance.now() - started),
        });
      const key = [said, service.name, voiceId, model, format, speed];
      const known = await cache.find(key);
      const answer = (audio: ReadableStream<Uint8Array>): Spoken => ({
        callId: id,
        mediaType: MEDIA_TYPES[format],
        audio,
      });
      if (known) {
        logCall(known.byteLength, 0, true);
        return answer(streamOf(yieldOne(known)));
      }
      const sounds = speechOf(service, { text: said, voiceId, model, format, speed, signal });
      const made: Uint8Array[] = [];
      let cost: number | null = 0;
      const pieces = (async function* () {
        try {
          for await (const { audio, costUsd } of sounds) {
            cost = cost === null || costUsd === null ? null : cost + costUsd;
            made.push(audio);
            if (made.reduce((sum, piece) => sum + piece.byteLength, 0) > LIMITS.speechBytes)
              throw unavailable("speech_too_large", `The sound is longer than ${LIMITS.speechBytes} bytes.`);
            // The header of a WAV file counts its bytes, so a WAV is sent as a whole.
            if (format !== "wav") yield audio;
          }
          const whole = format === "wav" ? joinedWavs(service, made) : Buffer.concat(made);
          if (format === "wav") yield whole;
          logCall(whole.byteLength, cost, false);
          await cache.keep(key, whole);
        } catch (error) {
          const code = isProblem(error) ? error.code : signal.aborted ? "cancelled" : "internal";
          const sent = made.reduce((sum, piece) => sum + piece.byteLength, 0);
          const message = isProblem(error) ? masking.text(messageOf(error)) : "The call was cut short.";
          logCall(sent, cost, false, { code, message });
          throw error;
        }
      })();
      const first = await pieces.next();
      return answer(streamOf(prepend(first.value ?? undefined, pieces)));
    },
    /** The caller's own calls, or all for an administrator; newest first. */
    calls({ agent_id, provider }: CallFilter, page: Page, caller: Caller): ListAnswer<TtsCall> {
      const found = rows.page([buildReadCondition(caller, WHOSE.tts_calls), { agent_id, provider }], page);
      return listById(found, page, present);
    },
    /** Removes rows made before that time (ms since the epoch). */
    prune: (before: number): boolean => removeOld(store, "tts_calls", "created_at < ?", toTimestamp(before)),
    handOver(from: string, to: string | null): void {
      store.write(() => rows.update({ user_id: to }, { user_id: from }));
    },
  };
}

/** The requested format, else the settings' if the service makes it, else the service's first. */
function formatOf(service: SpeechService, asked: SpeechFormat | undefined, preferred: SpeechFormat): SpeechFormat {
  const { formats, name } = service;
  if (asked !== undefined && !formats.includes(asked))
    throw invalidField("/format", `${name} makes ${formats.join(" and ")} only`);
  return asked ?? (formats.includes(preferred) ? preferred : formats[0]!);
}

type Request = Parameters<SpeechService["speak"]>[0];

async function* speechOf(service: SpeechService, request: Request) {
  for (const text of piecesOf(request.text, service.maxCharacters)) yield await service.speak({ ...request, text });
}

function joinedWavs(service: SpeechService, files: Uint8Array[]): Uint8Array {
  try {
    return joinWavs(files);
  } catch (error) {
    throw unavailable("speech_refused", `${service.name} sent no usable sound: ${messageOf(error)}.`);
  }
}

async function* yieldOne(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield piece;
}

async function* prepend(first: Uint8Array | undefined, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (first) yield first;
  yield* rest;
}

/** Streams the pieces. When the reader leaves, synthesis stops. */
function streamOf(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await pieces.return(undefined);
    },
  });
}
