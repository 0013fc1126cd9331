/** Small schemas that API models share. */
import { type SchemaOptions, type TLiteral, type TSchema, type TUnion, Type as t } from "@sinclair/typebox";

/** One of these words. */
export const oneOf = <const Words extends readonly [string, ...string[]]>(...words: Words) =>
  t.Union(words.map((word) => t.Literal(word))) as TUnion<{
    -readonly [K in keyof Words]: TLiteral<Words[K]>;
  }>;

export const orNull = <T extends TSchema>(schema: T, options?: SchemaOptions) => t.Union([schema, t.Null()], options);

/** RFC 3339, UTC, milliseconds. */
export const Time = t.String({ format: "date-time" });

/** A body whose `description` may be null, with that null as the empty text that is stored. */
export const withoutNull = <T extends { description?: string | null }>({
  description,
  ...rest
}: T): Omit<T, "description"> & { description?: string } => ({
  ...rest,
  ...(description === undefined ? {} : { description: description ?? "" }),
});
