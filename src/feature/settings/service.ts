/**
 * Settings of the instance. Only fields that somebody set are stored. A reader always gets the whole object, without
 * fields that only a former version knew.
 */

import type { TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { toTimestamp } from "../../core/clock.ts";
import { invalidField } from "../../core/errors.ts";
import { ADMINISTRATORS } from "../../core/events.ts";
import { isObject } from "../../core/is-object.ts";
import { ownJson } from "../../core/own-json.ts";
import { checkedPlan } from "../../core/schedule.ts";
import { actedBy, actorOf, type Caller } from "../../http/caller.ts";
import { settings as table } from "../../store/tables/settings.ts";
import type { Core } from "../feature.ts";
import { settingsChanged } from "./events.ts";
import { DEFAULT_SETTINGS, type ModelPurpose, Settings, type SettingsUpdate } from "./model.ts";

interface SettingsDeps extends Pick<Core, "store" | "clock" | "audit"> {
  /** Whether there is a provider with this id, configured or not. */
  isProvider(id: string): boolean;
  /** @throws Problem 422 for a folder to which no backups can be written. */
  assertBackupFolder(path: string): void;
}

export type SettingsService = ReturnType<typeof createSettings>;

type Fields = Record<string, unknown>;
type Groups = Record<string, Fields>;
const NAME = "instance";
const own = (object: unknown, name: string): unknown =>
  isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;

/** Visits the names in the schema only, so that no other name from a stored or sent object is ever assigned. */
function eachField(visit: (group: string, field: string, schema: TSchema) => void): void {
  for (const [group, { properties }] of Object.entries(Settings.properties))
    for (const [field, schema] of Object.entries(properties)) visit(group, field, schema);
}

function withDefaults(stored: unknown): Settings {
  const result: Settings = structuredClone(DEFAULT_SETTINGS);
  const groups: Groups = result;
  eachField((group, field, schema) => {
    const value = own(own(stored, group), field);
    if (value !== undefined && Value.Check(schema, value)) groups[group]![field] = value;
  });
  for (const group of Object.values(groups)) Object.freeze(group);
  return Object.freeze(result);
}

function merge(stored: unknown, input: SettingsUpdate): { value: Groups; changed: string[] } {
  const value: Groups = {};
  const changed: string[] = [];
  eachField((group, field) => {
    const before = own(own(stored, group), field);
    const sent = own(own(input, group), field);
    const after = sent === undefined ? before : sent === null ? undefined : sent;
    if (after !== before) changed.push(`${group}.${field}`);
    if (after === undefined) return;
    value[group] ??= {};
    value[group][field] = after;
  });
  return { value, changed };
}

export function createSettings(deps: SettingsDeps) {
  const { store, clock, audit, isProvider } = deps;
  const rows = store.rows(table);
  const read = (name: string): unknown => rows.find({ name })?.value;
  const save = (name: string, value: object, caller: Caller, changed: string[]): void => {
    const row = { value, updated_at: toTimestamp(clock.now()), updated_by: actorOf(caller) };
    store.write(({ emit }) => {
      rows.put({ name, ...row }, ["name"]);
      emit(settingsChanged, { user_id: ADMINISTRATORS, data: { name, changed } });
      audit({ action: "settings.updated", ...actedBy(caller), subject: name, data: { changed } });
    });
  };
  const text = store.sqlite.prepare("SELECT value FROM settings WHERE name = ?").pluck();
  let known: { text: unknown; settings: Settings } | undefined;
  /** Called before every model call, so the row is parsed again only when it has changed. */
  const get = (): Settings => {
    const now = text.get(NAME);
    if (known?.text !== now || known === undefined)
      known = { text: now, settings: withDefaults(typeof now === "string" ? ownJson(now) : undefined) };
    return known.settings;
  };
  const assertProviders = (models: SettingsUpdate["models"] = {}): void => {
    const named = Object.entries(models).flatMap(([purpose, model]) =>
      (Array.isArray(model) ? model : [model]).map((one) => ({ purpose, model: one })),
    );
    for (const { purpose, model } of named) {
      const provider = model?.split("/", 1)[0];
      if (provider === undefined || isProvider(provider)) continue;
      const remedy = "`skep providers` lists them; a server of your own is custom-NAME.";
      throw invalidField(`/models/${purpose}`, `There is no provider ${provider}: ${remedy}`);
    }
  };
  const assertBackup = ({ schedule, timezone, folder }: Settings["backup"]): void => {
    checkedPlan({ schedule: schedule ?? "0 0 * * *", timezone, blackouts: [] }, clock.now(), "/backup");
    if (folder !== null) deps.assertBackupFolder(folder);
  };
  const update = (input: SettingsUpdate, caller: Caller): Settings =>
    store.write(() => {
      assertProviders(input.models);
      const { value, changed } = merge(read(NAME), input);
      if (input.backup) assertBackup(withDefaults(value).backup);
      if (changed.length > 0) save(NAME, value, caller, changed);
      return get();
    });
  return {
    /** The settings; the object is frozen. */
    get,
    /**
     * Changes the given fields; null resets a field to its default. The input matches the schema `SettingsUpdate`.
     * @throws Problem 422 for a model of a provider that does not exist.
     */
    update,
    /** The setting `models.default`. */
    defaultModel: {
      get: () => get().models.default,
      set: (model: string | null, caller: Caller) => void update({ models: { default: model } }, caller),
    },
    /** The model for that purpose as `provider/model`; null when none is set. */
    modelFor(purpose: ModelPurpose): string | null {
      const { models } = get();
      return models[purpose] ?? models.default;
    },
    /** A stored object of another name (such as `tts`), as it was put. */
    read,
    put: (name: string, value: object, caller: Caller): void => save(name, value, caller, Object.keys(value)),
  };
}
