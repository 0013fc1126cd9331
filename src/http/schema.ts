/** Schemas of values that arrive as text or as files, in a query or a form. */
import { FormatRegistry, Kind, Type, TypeRegistry } from "@sinclair/typebox";

interface Bounds {
  minimum?: number;
  maximum?: number;
}

/**
 * A whole number in a query, where every value arrives as text. The bounds are part of the text's format, so that a
 * refusal can name the query parameter.
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

FormatRegistry.Set("boolean", (text) => text === "true" || text === "false");

/** `true` or `false` in a query. */
export function queryBoolean(options: { description?: string } = {}) {
  const value = Type.Transform(Type.Union([Type.String({ format: "boolean" }), Type.Boolean()], options));
  return Type.Unsafe<boolean>(value.Decode((given) => given === true || given === "true").Encode((given) => given));
}

TypeRegistry.Set("FormFile", (_, value) => value instanceof Blob);

/** A file in a form. */
export const formFile = (options: { description: string }) =>
  Type.Unsafe<Blob>({ ...options, [Kind]: "FormFile", type: "string", format: "binary" });
