/**
 * An administrator's settings of one model. Each call changes only the given fields; other fields and other models
 * stay.
 */
import type { Catalogue, CatalogueModel } from "../../adapter/model/catalogue.ts";
import { invalidField } from "../../core/errors.ts";
import type { Caller } from "../../http/caller.ts";
import type { StoredModel } from "../../store/tables/providers.ts";
import type { ProviderKeys, ProviderRow } from "./keys.ts";
import type { ModelUpdate } from "./model.ts";
import type { Providers } from "./service.ts";

interface ModelSettingsDeps {
  catalogue: Pick<Catalogue, "describeModel" | "provider">;
  keys: Pick<ProviderKeys, "findRow">;
  providers: Pick<Providers, "update" | "remove">;
  splitModel(model: string): { provider: string; name: string } | undefined;
}

export type ModelSettings = ReturnType<typeof createModelSettings>;

const withoutNulls = ({
  reasoning,
  tools,
  images,
  ...figures
}: Omit<ModelUpdate, "model">): Omit<StoredModel, "id"> => ({
  ...figures,
  ...(typeof reasoning === "boolean" ? { reasoning } : {}),
  ...(typeof tools === "boolean" ? { tools } : {}),
  ...(typeof images === "boolean" ? { images } : {}),
});

/** Whether the row holds settings besides those of models. */
const holdsMore = ({ name, base_url, enabled, sealed_key }: ProviderRow): boolean =>
  name !== null || base_url !== null || sealed_key !== null || !enabled;

export function createModelSettings({ catalogue, keys, providers, splitModel }: ModelSettingsDeps) {
  return {
    /** @throws Problem 422 for a text that is no name of a model. */
    set({ model, ...fields }: ModelUpdate, caller: Caller): CatalogueModel & { provider: string } {
      const parts = splitModel(model);
      const entry = parts && catalogue.provider(parts.provider);
      if (!parts || !entry || entry.kind === "scripted")
        throw invalidField("/model", "There is no such provider. Write provider/model, e.g. ollama/qwen3");
      const { provider, name } = parts;
      if (provider.startsWith("custom-") && !keys.findRow(provider))
        throw invalidField(
          "/model",
          `There is no provider ${provider}. Add it: skep providers set ${provider} --base-url URL`,
        );
      const isIt = ({ id }: StoredModel) => id === name || id === model;
      const row = keys.findRow(provider);
      const stored = row?.models ?? [];
      // Null removes a field, so that the value from the price table or the server applies again.
      const merged: StoredModel = { ...stored.find(isIt), ...withoutNulls(fields), id: name };
      for (const [field, value] of Object.entries(fields)) if (value === null) Reflect.deleteProperty(merged, field);
      const others = stored.filter((one) => !isIt(one));
      const models = Object.keys(merged).length === 1 ? others : [...others, merged];
      // A row makes a local server count as set up. So an empty row is removed, and none is made without a setting.
      if (models.length > 0 || (row && holdsMore(row))) providers.update(provider, { models }, caller);
      else if (row) providers.remove(provider, caller);
      return { ...catalogue.describeModel(model), name, provider };
    },
  };
}
