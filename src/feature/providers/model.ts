/** Model providers as the API shows them: keys are masked, and models come with what is known about them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, orNull } from "../../core/schema.ts";

const Price = orNull(
  t.Number({ minimum: 0, maximum: 100_000, description: "Price in USD per million tokens; null if unknown." }),
);
const Window = orNull(
  t.Integer({ minimum: 1, maximum: 100_000_000, description: "Number of tokens; null if unknown." }),
);
const Name = t.String({ minLength: 1, maxLength: LIMITS.nameCharacters });

export const ProviderModel = t.Object({
  id: t.String({ description: "Id in the form `provider/model`." }),
  name: t.String(),
  context_window: orNull(
    t.Integer({
      minimum: 1,
      maximum: 100_000_000,
      description: "Context window that is served, in tokens; null if unknown.",
    }),
  ),
  max_context_window: orNull(
    t.Integer({ description: "Largest context window that the model supports, in tokens; null if unknown." }),
  ),
  max_output_tokens: orNull(
    t.Integer({ description: "Most tokens of a reply; null applies the provider's own limit." }),
  ),
  input_usd_per_mtok: Price,
  output_usd_per_mtok: Price,
  reasoning: t.Boolean(),
  tools: t.Boolean(),
  images: t.Boolean({ description: "Whether the model reads images." }),
});
export type ProviderModel = Static<typeof ProviderModel>;

const ProviderKind = oneOf("anthropic", "openai", "google", "openai-compatible", "ollama", "scripted");

const KeySource = oneOf("user", "instance", "env", "none");

export const Provider = t.Object({
  id: t.String(),
  name: t.String(),
  kind: ProviderKind,
  base_url: orNull(t.String()),
  enabled: t.Boolean(),
  configured: t.Boolean({ description: "Whether the provider has the key or the address that its calls need." }),
  key_source: KeySource,
  masked_key: orNull(t.String()),
  key_refused: t.Boolean({ description: "Whether the provider refused the instance's key at the last attempt." }),
  last_used_on: orNull(
    t.String({ description: "Day (UTC) of the last call to the provider within the last 90 days." }),
  ),
  default: orNull(t.String({ description: "The instance's default model, if it belongs to this provider." })),
  models: t.Array(ProviderModel),
  docs_url: t.String(),
  env_var: t.String({ description: "Environment variable that holds the key if none is stored." }),
});
export type Provider = Static<typeof Provider>;

const yesNo = () => t.Optional(orNull(t.Boolean()));

export const ModelUpdate = t.Object(
  {
    model: t.String({
      minLength: 3,
      maxLength: LIMITS.nameCharacters,
      description: "Id in the form `provider/model`.",
    }),
    context_window: t.Optional(Window),
    max_output_tokens: t.Optional(Window),
    input_usd_per_mtok: t.Optional(Price),
    output_usd_per_mtok: t.Optional(Price),
    reasoning: yesNo(),
    tools: yesNo(),
    images: yesNo(),
  },
  {
    description: "Fields that are left out stay unchanged. Null restores the value from the server or the price table.",
  },
);
export type ModelUpdate = Static<typeof ModelUpdate>;

export const ModelWindow = t.Object({
  model: t.String(),
  context_window: orNull(
    t.Integer({
      description: "Context window that the server serves now, in tokens; null if the server does not tell.",
    }),
  ),
  max_context_window: orNull(t.Integer({ description: "Largest context window that the model supports, in tokens." })),
  wanted: orNull(t.Integer({ description: "Context window that was set for the model, in tokens." })),
  is_small: t.Boolean({ description: "Whether the context window is too small for agents." }),
  advice: orNull(t.String({ description: "What to do about the window, in words for a person." })),
});

const Key = t.String({ minLength: 1, maxLength: 4_096, pattern: "^[\\x21-\\x7e]+$" });

export const ProviderUpdate = t.Object({
  name: t.Optional(orNull(Name)),
  kind: t.Optional(
    t.Union(
      [
        t.Literal("anthropic"),
        t.Literal("openai"),
        t.Literal("google"),
        t.Literal("openai-compatible"),
        t.Literal("ollama"),
      ],
      { description: "Protocol that the custom server speaks." },
    ),
  ),
  base_url: t.Optional(
    orNull(
      t.String({ maxLength: 2_048, description: "Address of the provider. A new address drops the stored keys." }),
    ),
  ),
  api_key: t.Optional(orNull(Key)),
  enabled: t.Optional(t.Boolean()),
  models: t.Optional(
    t.Array(
      t.Object({
        id: Name,
        name: t.Optional(Name),
        context_window: t.Optional(Window),
        max_output_tokens: t.Optional(Window),
        input_usd_per_mtok: t.Optional(Price),
        output_usd_per_mtok: t.Optional(Price),
        reasoning: t.Optional(t.Boolean()),
        tools: t.Optional(t.Boolean()),
        images: t.Optional(t.Boolean()),
      }),
      { maxItems: 500, description: "Your own entries for models, which take precedence over the built-in table." },
    ),
  ),
  default: t.Optional(
    orNull(t.String({ maxLength: LIMITS.nameCharacters, description: "Model that becomes the instance's default." })),
  ),
});
export type ProviderUpdate = Static<typeof ProviderUpdate>;

export const UserKey = t.Object({
  provider: t.String(),
  name: t.String(),
  masked_key: t.String(),
  usable: t.Boolean({
    description: "Whether the key can be used. False if the provider is switched off or its address has changed.",
  }),
  created_at: t.String({ format: "date-time" }),
  updated_at: t.String({ format: "date-time" }),
});
export type UserKey = Static<typeof UserKey>;
export const UserKeyUpdate = t.Object({ api_key: Key });

export const ProviderKey = t.Object({
  provider: t.String(),
  source: oneOf("instance", "env"),
  masked_key: t.String(),
  api_key: t.Optional(t.String({ description: "Key in plain text; only the engine's token gets it." })),
  base_url: orNull(t.String()),
});
export type ProviderKey = Static<typeof ProviderKey>;

export const ProviderTest = t.Object({
  ok: t.Boolean(),
  base_url: orNull(t.String()),
  key_source: KeySource,
  duration_ms: t.Integer(),
  models: t.Array(ProviderModel, { description: "Models that the server lists now." }),
  error: orNull(t.String({ description: "Why the test failed, in words for a person; never contains a key." })),
  key_refused: t.Boolean({ description: "Whether the provider refused the key, or needs one and has none." }),
});
export type ProviderTest = Static<typeof ProviderTest>;
