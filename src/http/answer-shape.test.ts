import { describe, expect, test } from "bun:test";
import { Type as t } from "@sinclair/typebox";
import { oneOf, orNull, Time } from "../core/schema.ts";
import { shapeOf } from "./answer-shape.ts";
import { listOf } from "./list.ts";

const Person = t.Object({ name: t.String(), born: orNull(Time), role: t.Optional(oneOf("admin", "member")) });
const secret = { password_hash: "argon2" };

describe("an answer", () => {
  test("has only what its schema names, in lists, records and what may be null too", () => {
    const Team = t.Object({
      lead: orNull(Person),
      people: t.Record(t.String(), Person),
      anything: t.Record(t.String(), t.Unknown()),
      both: t.Intersect([Person, t.Object({ age: t.Integer() })]),
    });
    const person = { name: "Ada", born: null, role: "admin" };
    const row = { ...person, ...secret };
    const shaped = shapeOf(listOf(Team))!({
      items: [{ lead: row, people: { ada: row }, anything: secret, both: { ...row, age: 36 }, ...secret }],
      next_cursor: null,
      ...secret,
    });
    const both = { ...person, age: 36 };
    const items = [{ lead: person, people: { ada: person }, anything: secret, both }];
    expect(shaped).toEqual({ items, next_cursor: null });
    expect(shapeOf(Team)!({ lead: null, people: {}, anything: {} })).toEqual({ lead: null, people: {}, anything: {} });
  });

  test("of several shapes has that which it fits, and is refused when it fits none", () => {
    const Part = t.Union([
      t.Object({ type: t.Literal("text"), text: t.String() }),
      t.Object({ type: t.Literal("call"), name: t.String(), input: t.Unknown() }),
      t.String(),
    ]);
    const shape = shapeOf(t.Array(Part))!;
    const call = { type: "call", name: "bash", input: { command: "ls" } };
    expect(shape([{ type: "text", text: "a", ...secret }, { ...call, ...secret }, "plain"])).toEqual([
      { type: "text", text: "a" },
      call,
      "plain",
    ]);
    expect(() => shape([{ type: "image", ...secret }])).toThrow("fits no part");
  });

  test("whose schema names everything is handed on as it is", () => {
    for (const schema of [t.String(), orNull(t.String()), t.Array(t.Integer()), t.Record(t.String(), t.Unknown())])
      expect(shapeOf(schema)).toBeUndefined();
  });
});
