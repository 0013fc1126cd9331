/** The interface of all speech services. */

export type SpeechFormat = "mp3" | "wav" | "opus";

interface SpeechRequest {
  /** Plain text of at most the service's `maxCharacters`. */
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
  /** Null when the service does not report the cost and no price is known. */
  costUsd: number | null;
}

export interface Voice {
  id: string;
  name: string;
  provider: string;
  /** BCP 47 tags, if the service tells them. */
  languages: string[];
  preview_url: string | null;
}

export interface SpeechService {
  readonly name: string;
  readonly formats: readonly SpeechFormat[];
  /** Most characters of one request. */
  readonly maxCharacters: number;
  /** @throws Problem 503 with the service's reason when it gives no audio. */
  speak(request: SpeechRequest): Promise<Speech>;
  /** @throws Problem 503 when the service cannot be reached or refuses. */
  voices(signal: AbortSignal): Promise<Voice[]>;
}
