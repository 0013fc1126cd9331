/** What the syntax of the sources tells: one file of tests, so that each source is parsed once for all of them. */
import { setDefaultTimeout } from "bun:test";

// On a busy machine that takes longer than the usual bound.
setDefaultTimeout(300_000);
await import("./syntax/casts.ts");
await import("./syntax/functions.ts");
await import("./syntax/jsx.ts");
await import("./syntax/names.ts");
await import("./syntax/this.ts");
