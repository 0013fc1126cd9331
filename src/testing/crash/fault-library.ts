/** Makes system calls of a running server fail, controlled from outside (`fault-library.c`). */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compileC, LIBRARY } from "../c-program.ts";

/** In the order of the library's numbers. */
const KINDS = ["none", "no space", "bad write", "bad sync", "no descriptor"] as const;
export type CallFault = Exclude<(typeof KINDS)[number], "none">;

export interface FaultLibrary {
  /** Environment for the server: calls for files below `folder` can then fail. */
  env(folder: string): Record<string, string>;
  /** From now on, the next `spared` calls of that kind succeed, and the `failing` calls after them fail. */
  set(fault: CallFault, spared: number, failing: number): void;
  /** Makes all calls succeed again. @returns how many have failed since `set`. */
  mend(): number;
  remove(): void;
}

/** Compiles the library. @throws Error without a compiler. */
export function openFaultLibrary(): FaultLibrary {
  const made = compileC(join(import.meta.dir, "fault-library.c"), LIBRARY);
  if (!made) throw new Error("the library of faults needs gcc");
  const { path: library, folder, remove } = made;
  const control = join(folder, "control");
  const write = (...values: [number, number, number]) =>
    writeFileSync(control, new Uint8Array(Int32Array.of(...values, 0).buffer), { flag: "r+" });
  writeFileSync(control, new Uint8Array(16));
  return {
    env: (below) => ({ LD_PRELOAD: library, FAULT_CONTROL: control, FAULT_FOLDER: below }),
    set: (fault, spared, failing) => write(KINDS.indexOf(fault), spared, failing),
    mend() {
      const failed = readFileSync(control).readInt32LE(12);
      write(0, 0, 0);
      return failed;
    },
    remove,
  };
}
