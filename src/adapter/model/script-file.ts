/**
 * A transcript for the scripted model, as YAML or JSON:
 *
 *     version: 1
 *     steps:   { design: [ …turns ] }      # by the step's name in the pipeline
 *     agents:  { reviewer: [ …turns ] }    # else by agent
 *     chats:   { scribe: [ …turns ] }      # else by agent, if it has no tool `complete`; begins again at its end
 *     chat:    [ …turns ]                  # else the same for any agent
 *     default: [ …turns ]                  # else
 *
 * A turn is one reply of the model:
 *
 *     - thinking: I should look first.
 *       text: Looking around.
 *       tool_calls: [ { tool: ls, input: { path: . } } ]
 *       delay_ms: 400        # how long the reply takes, spread over its pieces
 *       chunk: 12            # characters per piece; the whole text at once without it
 *
 * `optional: true` on a tool call leaves the call out if the agent has no such tool. A turn that then has no calls left
 * is left out with its text. Texts and inputs may contain `{{ user }}` (the first user message), `{{ last_user }}` (the
 * latest) and `{{ last_tool_output }}`. `{{ outputs }}`, alone as a value, becomes an object with a made-up value for
 * each output that `complete` asks for. Nothing else is evaluated.
 */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parse, YAMLParseError } from "yaml";

const strict = { additionalProperties: false };

export const ScriptTurn = Type.Object(
  {
    text: Type.Optional(Type.String()),
    thinking: Type.Optional(Type.String()),
    tool_calls: Type.Optional(
      Type.Array(
        Type.Object(
          {
            tool: Type.String({ minLength: 1 }),
            input: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
            optional: Type.Optional(Type.Boolean()),
          },
          strict,
        ),
        { maxItems: 50 },
      ),
    ),
    delay_ms: Type.Optional(Type.Number({ minimum: 0, maximum: 600_000 })),
    chunk: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  strict,
);
export type ScriptTurn = Static<typeof ScriptTurn>;

const Turns = Type.Array(ScriptTurn, { maxItems: 1000 });

export const ScriptFile = Type.Object(
  {
    version: Type.Literal(1),
    name: Type.Optional(Type.String()),
    steps: Type.Optional(Type.Record(Type.String(), Turns)),
    agents: Type.Optional(Type.Record(Type.String(), Turns)),
    chats: Type.Optional(Type.Record(Type.String(), Turns)),
    chat: Type.Optional(Turns),
    default: Type.Optional(Turns),
  },
  strict,
);
export type ScriptFile = Static<typeof ScriptFile>;

export const SCRIPT_FILE_BYTES = 1024 * 1024;

/** Parses a transcript. @throws Error with the place of the first mistake, and never with the file's content. */
export function parseScript(text: string): ScriptFile {
  if (Buffer.byteLength(text) > SCRIPT_FILE_BYTES) throw new Error("the transcript is larger than 1 MiB");
  let value: unknown;
  try {
    value = parse(text, { maxAliasCount: 100 });
  } catch (error) {
    const line = error instanceof YAMLParseError ? error.linePos?.[0].line : undefined;
    throw new Error(`the transcript is neither YAML nor JSON${line === undefined ? "" : ` (line ${line})`}`);
  }
  return requireValid(ScriptFile, value);
}

function requireValid<T extends TSchema>(schema: T, value: unknown): Static<T> {
  if (Value.Check(schema, value)) return value;
  const first = Value.Errors(schema, value).First();
  throw new Error(`the transcript is wrong at ${first?.path || "/"}: ${first?.message ?? "no transcript"}`);
}
