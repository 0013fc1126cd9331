/** Schemas of values that arrive as text or as files: in a query, in a form. */
import { FormatRegistry, Type } from "@sinclair/typebox";
import { t } from "elysia";

interface Bounds {
  minimum?: number;
  maximum?: number;
}

/**
 * A whole number in a query, where everything arrives as text. The bounds are a part of the text's format: a refusal then
 * names the member of the query, which the framework's own form of it does not know.
 * @param most larger numbers count as this one.
 */
export function queryInteger({ description, ...bounds }: Bounds & { description?: string }, most = Infinity) {
  const options = { ...bounds, ...(description === undefined ? {} : { description }) };
  const text = Type.String({ format: boundedFormat(bounds) });
  const number = Type.Transform(Type.Union([text, Type.Integer(options)], options));
  return Type.Unsafe<number>(number.Decode((value) => Math.min(Number(value), most)).Encode((value) => value));
}

function boundedFormat({ minimum = -Infinity, maximum = Infinity }: Bounds): string {
  const name = `integer from ${minimum} to ${maximum}`;
  FormatRegistry.Set(name, (text) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    return Number.isInteger(value) && value >= minimum && value <= maximum;
  });
  return name;
}

/** `true` or `false` in a query. */
export const queryBoolean = (options: { description: string }) => t.BooleanString(options);

/** A file in a form. */
export const formFile = (options: { description: string }) => t.File(options);
