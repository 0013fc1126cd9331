import { expect, test } from "bun:test";
import { TypeBindings } from "./type-bindings.ts";
import { createBuiltin } from "./value-type.ts";

test("types are found by what they were bound to, in their order, few or many, also in a copy", () => {
  for (const count of [0, 1, 3, 15, 16, 17, 200]) {
    const bindings = new TypeBindings();
    for (let id = 0; id < count; id++) bindings.bindType(id * 7, createBuiltin(`t${id}`));
    for (let id = 0; id < count; id += 2) bindings.bindType(id * 7, createBuiltin(`second${id}`));
    const wanted = Array.from({ length: count }, (_, id) => createBuiltin(id % 2 === 0 ? `second${id}` : `t${id}`));
    const copy = bindings.copy();
    bindings.bindType(-1, createBuiltin("own"));
    const seen: number[] = [];
    copy.forEach((_type, id) => {
      seen.push(id);
    });
    expect([count, copy.size, copy.has(-1), copy.get(-1)]).toEqual([count, count, false, undefined]);
    expect(copy.values()).toEqual(wanted);
    expect(seen).toEqual(wanted.map((_, id) => id * 7));
    expect(seen.map((id) => copy.get(id))).toEqual(wanted);
    expect(bindings.get(-1)).toEqual(createBuiltin("own"));
  }
});
