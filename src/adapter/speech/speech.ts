/** What a speech service can do, whichever it is. */

export type SpeechFormat = "mp3" | "wav" | "opus";

interface SpeechRequest {
  /** Plain text, within `maxCharacters` of the service. */
  text: string;
  voiceId: string | undefined;
  model: string | undefined;
  format: SpeechFormat;
  /** 1 is the voice's own speed. */
  speed: number;
  signal: AbortSignal;
}

interface Speech {
  audio: Uint8Array;
  /** Null when the service does not say and no price is known. */
  costUsd: number | null;
}

export interface Voice {
  id: string;
  name: string;
  provider: string;
  /** BCP 47, where the service says. */
  languages: string[];
  preview_url: string | null;
}

export interface SpeechService {
  readonly name: string;
  readonly formats: readonly SpeechFormat[];
  /** Of one request. */
  readonly maxCharacters: number;
  /** @throws Problem 503 with the service's reason when it gives no audio. */
  speak(request: SpeechRequest): Promise<Speech>;
  /** @throws Problem 503 when it cannot be asked. */
  voices(signal: AbortSignal): Promise<Voice[]>;
}
