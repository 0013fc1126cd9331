/** The voice settings that count for every agent which has none of its own. */
import { Value } from "@sinclair/typebox/value";
import type { Caller } from "../../http/caller.ts";
import { DEFAULT_TTS_SETTINGS, TtsSettings } from "./model.ts";

export interface TtsSettingsService {
  get(): TtsSettings;
  /** Changes the fields sent. The input is of the schema `TtsSettingsUpdate`. */
  update(input: Partial<TtsSettings>, caller: Caller): TtsSettings;
}

interface Stored {
  read(name: string): unknown;
  put(name: string, value: unknown, caller: Caller): void;
}

const NAME = "tts";

export function createTtsSettings(stored: Stored): TtsSettingsService {
  /** Only the schema's own names are read, and only what fits them. */
  const get = (): TtsSettings => {
    const value = stored.read(NAME);
    const found: Record<string, unknown> = { ...DEFAULT_TTS_SETTINGS };
    if (value !== null && typeof value === "object")
      for (const [name, schema] of Object.entries(TtsSettings.properties))
        if (Object.hasOwn(value, name)) {
          const one = (value as Record<string, unknown>)[name];
          if (Value.Check(schema, one)) found[name] = one;
        }
    return found as TtsSettings;
  };
  return {
    get,
    update(input, caller) {
      const next: Record<string, unknown> = get();
      for (const name of Object.keys(TtsSettings.properties))
        if (Object.hasOwn(input, name)) next[name] = input[name as keyof TtsSettings];
      stored.put(NAME, next, caller);
      return get();
    },
  };
}
