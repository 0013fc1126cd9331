/** Model providers as the API shows them: keys are masked, and models come with what is known about them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, orNull } from "../../core/schema.ts";

const Price = orNull(t.Number({ minimum: 0, maximum: 100_000, description: "USD per million tokens; null: unknown." }));
const Window = orNull(t.Integer({ minimum: 1, maximum: 100_000_000, description: "Tokens; null: unknown." }));
const Name = t.String({ minLength: 1, maxLength: LIMITS.nameCharacters });

export const ProviderModel = t.Object({
  id: t.String({ description: "provider/model" }),
  name: t.String(),
  context_window: orNull(
    t.Integer({ minimum: 1, maximum: 100_000_000, description: "Tokens that are served; null: unknown." }),
  ),
  max_context_window: orNull(t.Integer({ description: "Tokens, the most that the model can; null: unknown." })),
  max_output_tokens: orNull(t.Integer({ description: "Most tokens of a reply; null: the provider's own limit." })),
  input_usd_per_mtok: Price,
  output_usd_per_mtok: Price,
  reasoning: t.Boolean(),
  tools: t.Boolean(),
  images: t.Boolean({ description: "It reads pictures." }),
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
  configured: t.Boolean({ description: "Calls can be made: it has the key or the address that it needs." }),
  key_source: KeySource,
  masked_key: orNull(t.String()),
  key_refused: t.Boolean({ description: "The provider refused the instance's key when it was last tried." }),
  last_used_on: orNull(t.String({ description: "Day (UTC) of the last call to it, in the last 90 days." })),
  default: orNull(t.String({ description: "The instance's default model, if it is this provider's." })),
  models: t.Array(ProviderModel),
  docs_url: t.String(),
  env_var: t.String({ description: "Variable from which a key is taken when none is stored." }),
});
export type Provider = Static<typeof Provider>;

const yesNo = () => t.Optional(orNull(t.Boolean()));

export const ModelUpdate = t.Object(
  {
    model: t.String({ minLength: 3, maxLength: LIMITS.nameCharacters, description: "provider/model" }),
    context_window: t.Optional(Window),
    max_output_tokens: t.Optional(Window),
    input_usd_per_mtok: t.Optional(Price),
    output_usd_per_mtok: t.Optional(Price),
    reasoning: yesNo(),
    tools: yesNo(),
    images: yesNo(),
  },
  { description: "What is left out stays as it is; null goes back to what the server or the price table says." },
);
export type ModelUpdate = Static<typeof ModelUpdate>;

export const ModelWindow = t.Object({
  model: t.String(),
  context_window: orNull(t.Integer({ description: "Tokens that the server serves now; null: it does not say." })),
  max_context_window: orNull(t.Integer({ description: "Tokens, the most that the model can." })),
  wanted: orNull(t.Integer({ description: "Tokens that were set." })),
  is_small: t.Boolean({ description: "Too small for agents." }),
  advice: orNull(t.String({ description: "What to do about it, for a person." })),
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
      { description: "Protocol that a custom server speaks." },
    ),
  ),
  base_url: t.Optional(orNull(t.String({ maxLength: 2_048, description: "Another address drops the stored keys." }))),
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
      { maxItems: 500, description: "Own entries; they take precedence over the built-in table." },
    ),
  ),
  default: t.Optional(orNull(t.String({ maxLength: LIMITS.nameCharacters, description: "Instance's default model." }))),
});
export type ProviderUpdate = Static<typeof ProviderUpdate>;

export const UserKey = t.Object({
  provider: t.String(),
  name: t.String(),
  masked_key: t.String(),
  usable: t.Boolean({ description: "False when the provider is switched off or its address has changed." }),
  created_at: t.String({ format: "date-time" }),
  updated_at: t.String({ format: "date-time" }),
});
export type UserKey = Static<typeof UserKey>;
export const UserKeyUpdate = t.Object({ api_key: Key });

export const ProviderKey = t.Object({
  provider: t.String(),
  source: oneOf("instance", "env"),
  masked_key: t.String(),
  api_key: t.Optional(t.String({ description: "For the engine's token alone." })),
  base_url: orNull(t.String()),
});
export type ProviderKey = Static<typeof ProviderKey>;

export const ProviderTest = t.Object({
  ok: t.Boolean(),
  base_url: orNull(t.String()),
  key_source: KeySource,
  duration_ms: t.Integer(),
  models: t.Array(ProviderModel, { description: "What the server lists now." }),
  error: orNull(t.String({ description: "Why not, for a person; never a key." })),
  key_refused: t.Boolean({ description: "It wants a key, or another one." }),
});
export type ProviderTest = Static<typeof ProviderTest>;
