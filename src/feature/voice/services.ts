/** Finds the speech service of a given name, with its current key and address. */
import type { SpeechService } from "../../adapter/speech/speech.ts";
import { unavailable } from "../../core/errors.ts";
import type { LocalVoiceHealth, SpeechProvider } from "./model.ts";

export type SpeechServices = ReturnType<typeof createSpeechServices>;

/** Makes the services' clients; `feature.ts` takes these functions from the adapters. */
interface SpeechMakers {
  openai(baseUrl: string, apiKey: string | undefined): SpeechService;
  elevenlabs(baseUrl: string, apiKey: string): SpeechService;
  localServer(url: string): SpeechService;
  espeak(): SpeechService;
  piper(model: string): SpeechService;
}

interface SpeechServicesDeps {
  makers: SpeechMakers;
  keyOf(
    providerId: string,
    userId: string | undefined,
  ): Promise<{ apiKey?: string | undefined; baseUrl?: string | undefined } | undefined>;
  providerEnv: Readonly<Record<string, string>>;
  localvoiceUrl: string | undefined;
  piperVoice: string | undefined;
  /** The instance's choice of a service. */
  findPreferred(): SpeechProvider | null;
}

const notConfigured = (detail: string) => unavailable("provider_not_configured", detail);
const OPENAI_URL = "https://api.openai.com/v1";
const ELEVENLABS_URL = "https://api.elevenlabs.io";

export function createSpeechServices(deps: SpeechServicesDeps) {
  const { makers, keyOf, providerEnv, localvoiceUrl, piperVoice, findPreferred } = deps;
  const elevenLabsKey = providerEnv["ELEVENLABS_API_KEY"];

  async function createOpenai(userId: string | undefined): Promise<SpeechService> {
    const key = await keyOf("openai", userId);
    if (!key?.apiKey)
      throw notConfigured(
        "OpenAI has no key here: skep providers set openai --key. Voices of this machine: skep voice local",
      );
    return makers.openai((key.baseUrl ?? OPENAI_URL).replace(/\/$/, ""), key.apiKey);
  }
  function createElevenlabs(): SpeechService {
    if (!elevenLabsKey) throw notConfigured("ElevenLabs has no key here: set ELEVENLABS_API_KEY and start again.");
    return makers.elevenlabs((providerEnv["ELEVENLABS_BASE_URL"] ?? ELEVENLABS_URL).replace(/\/$/, ""), elevenLabsKey);
  }
  function createPiper(): SpeechService {
    if (!piperVoice) throw notConfigured("piper has no voice model: set PIPER_VOICE to an .onnx file and start again.");
    return makers.piper(piperVoice);
  }
  const chooseLocal = (): SpeechService =>
    localvoiceUrl ? makers.localServer(localvoiceUrl) : piperVoice ? createPiper() : makers.espeak();

  return {
    chooseLocal,
    /** @throws Problem 503 `provider_not_configured`, which tells what to set. */
    async of(provider: SpeechProvider, userId: string | undefined): Promise<SpeechService> {
      if (provider === "openai") return createOpenai(userId);
      if (provider === "elevenlabs") return createElevenlabs();
      if (provider === "piper") return createPiper();
      return provider === "espeak-ng" ? makers.espeak() : chooseLocal();
    },
    /** The hosted service whose voices are listed. @throws Problem 503 when none is set up. */
    async getHosted(userId: string | undefined): Promise<SpeechService> {
      const wanted = findPreferred();
      return wanted === "elevenlabs" || (wanted !== "openai" && elevenLabsKey)
        ? createElevenlabs()
        : createOpenai(userId);
    },
    async localHealth(signal: AbortSignal): Promise<LocalVoiceHealth> {
      const url = localvoiceUrl ?? null;
      const service = chooseLocal();
      try {
        await service.voices(signal);
        return { reachable: true, url, detail: url === null ? `${service.name} on this machine` : null };
      } catch (error) {
        return { reachable: false, url, detail: error instanceof Error ? error.message : String(error) };
      }
    },
  };
}
