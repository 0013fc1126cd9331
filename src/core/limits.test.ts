import { expect, setDefaultTimeout, test } from "bun:test";
import { filesOf, textOf } from "../testing/architecture/source-files.ts";
import { LIMITS } from "./limits.ts";

// Every file is read, which exceeds the usual time limit on a busy machine.
setDefaultTimeout(300_000);

test("every limit that doctor prints is one that the server keeps", () => {
  const files = filesOf("{adapter,app,cli,core,engine,feature,graph,http,process,store,text,working-copy}/**/*.ts");
  const kept = new Set(files.flatMap((file) => [...textOf(file).matchAll(/\bLIMITS\.(\w+)/g)].map(([, name]) => name)));
  expect(Object.keys(LIMITS).filter((name) => !kept.has(name))).toEqual([]);
});
