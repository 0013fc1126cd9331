/** Voice settings of the instance, and what single agents choose instead. */

import type { TObject } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { toTimestamp } from "../../core/clock.ts";
import { notFound } from "../../core/errors.ts";
import { isObject } from "../../core/is-object.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import { agentTtsSettings } from "../../store/tables/voice.ts";
import type { Core } from "../feature.ts";
import { type AgentTtsSettings, DEFAULT_TTS_SETTINGS, OwnTtsSettings, TtsSettings } from "./model.ts";

export type VoiceSettings = ReturnType<typeof createVoiceSettings>;

interface VoiceSettingsDeps extends Pick<Core, "store" | "clock" | "audit"> {
  agentExists(agentId: string): boolean;
  /** Named objects that are stored beside the instance's settings. */
  stored: { read(name: string): unknown; put(name: string, value: object, caller: Caller): void };
}

const NAME = "tts";
const NOTHING_OWN: OwnTtsSettings = {
  enabled: null,
  provider: null,
  voice_id: null,
  model: null,
  format: null,
  speed: null,
};

/** Copies those fields of `over` onto `base` that the schema names and that match it; nothing else is ever read. */
function overlay<T extends object>(schema: TObject, base: T, over: unknown): T {
  const result = { ...base };
  if (isObject(over))
    for (const [name, field] of Object.entries(schema.properties)) {
      const value = Object.hasOwn(over, name) ? over[name] : undefined;
      if (value !== undefined && Value.Check(field, value)) Object.assign(result, { [name]: value });
    }
  return result;
}

export function createVoiceSettings({ store, clock, audit, agentExists, stored }: VoiceSettingsDeps) {
  const rows = store.rows(agentTtsSettings);
  const readInstance = () => overlay(TtsSettings, DEFAULT_TTS_SETTINGS, stored.read(NAME));
  const ownOf = (agentId: string): OwnTtsSettings => {
    return overlay(OwnTtsSettings, NOTHING_OWN, rows.find({ agent_id: agentId })?.own);
  };
  /** @throws Problem 404 unknown agent. */
  const loadAgent = (agentId: string): AgentTtsSettings => {
    if (!agentExists(agentId)) throw notFound("agent");
    const own = ownOf(agentId);
    const shared = readInstance();
    const chosen = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== null));
    // A voice or model of one service means nothing to another one.
    const others = own.provider !== null && own.provider !== shared.provider ? { voice_id: null, model: null } : {};
    const effective = { ...shared, ...others, ...chosen, enabled: shared.enabled && own.enabled !== false };
    return { agent_id: agentId, ...own, effective };
  };
  return {
    readInstance,
    /** Changes the given fields. The input matches the schema `TtsSettingsUpdate`. */
    updateInstance(input: Partial<TtsSettings>, caller: Caller): TtsSettings {
      stored.put(NAME, overlay(TtsSettings, readInstance(), input), caller);
      return readInstance();
    },
    loadAgent,
    updateAgent(agentId: string, input: Partial<OwnTtsSettings>, caller: Caller): AgentTtsSettings {
      if (!agentExists(agentId)) throw notFound("agent");
      return store.write(() => {
        const own = overlay(OwnTtsSettings, ownOf(agentId), input);
        const updated_at = toTimestamp(clock.now());
        rows.put({ agent_id: agentId, own, updated_at }, ["agent_id"]);
        const data = { fields: Object.keys(input) };
        audit({ action: "agent.voice_updated", ...actedBy(caller), subject: agentId, data });
        return loadAgent(agentId);
      });
    },
  };
}
