/** Small schemas that API models share. */
import {
  type SchemaOptions,
  type TLiteral,
  type TObject,
  type TProperties,
  type TSchema,
  type TUnion,
  Type as t,
} from "@sinclair/typebox";
import { keysOf, pick } from "./typed-keys.ts";

/** A union of these words. */
export const oneOf = <const Words extends readonly [string, ...string[]]>(...words: Words) =>
  t.Union(words.map((word) => t.Literal(word))) as TUnion<{
    -readonly [K in keyof Words]: TLiteral<Words[K]>;
  }>;

export const orNull = <T extends TSchema>(schema: T, options?: SchemaOptions) => t.Union([schema, t.Null()], options);

/** The members of a row that the schema names: those that are shown under their own names. */
export const shownOf = <P extends TProperties, Row extends object>({ properties }: TObject<P>, row: Row) =>
  pick(
    row,
    keysOf(properties).filter((name): name is keyof P & keyof Row & string => Object.hasOwn(row, name)),
  );

/** RFC 3339, UTC, milliseconds. */
export const Time = t.String({ format: "date-time" });

/** Replaces a `description` of null in a body by the empty text, which is what is stored. */
export const withoutNull = <T extends { description?: string | null }>({
  description,
  ...rest
}: T): Omit<T, "description"> & { description?: string } => ({
  ...rest,
  ...(description === undefined ? {} : { description: description ?? "" }),
});
