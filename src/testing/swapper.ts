/**
 * Imitates a hostile process in a workspace. It swaps two names without pause with renameat2(RENAME_EXCHANGE), so that
 * a path leads to a folder when it is checked and to a link when it is opened.
 */
import { join } from "node:path";
import { compileC } from "./c-program.ts";

interface Swapper {
  stop(): Promise<void>;
}

const ALONE = ["-static", "-nostdlib", "-ffreestanding", "-fno-stack-protector", "-fno-pie", "-no-pie"];

/**
 * Compiles the swapper, which has no dependencies. @returns its path and a function that removes it; undefined without
 * a compiler.
 */
export const compileSwapper = () => compileC(join(import.meta.dir, "swapper.c"), ALONE);

/** The same in JavaScript, for machines without a compiler. It is slower. */
const SCRIPT = `
  const { dlopen, ptr } = require("bun:ffi");
  const number = process.arch === "arm64" ? 276 : 316;
  const c = dlopen("libc.so.6", { syscall: { args: ["i64", "i32", "ptr", "i32", "ptr", "u32"], returns: "i64" } }).symbols;
  const names = process.argv.slice(1).map((name) => Buffer.from(name + "\\0"));
  for (let round = 0; ; round++) {
    for (let at = 0; at + 1 < names.length; at += 2) c.syscall(number, -100, ptr(names[at]), -100, ptr(names[at + 1]), 2);
    for (let spin = (round * 7919) % 20000; spin > 0; spin--);
  }`;

/** Swaps pairs of paths on this machine until it is stopped. */
export function startSwapper(pairs: readonly (readonly [string, string])[]): Swapper {
  const compiled = compileSwapper();
  const command = compiled ? [compiled.path] : [process.execPath, "-e", SCRIPT];
  const child = Bun.spawn([...command, ...pairs.flat()], { stdio: ["ignore", "ignore", "inherit"] });
  return {
    async stop() {
      child.kill("SIGKILL");
      await child.exited;
      compiled?.remove();
    },
  };
}
