/** Tests of the sources' syntax. They share one file, so that each source is parsed only once. */
import { setDefaultTimeout } from "bun:test";

// On a busy machine, parsing takes longer than the usual limit.
setDefaultTimeout(300_000);
await import("./syntax/casts.ts");
await import("./syntax/functions.ts");
await import("./syntax/jsx.ts");
await import("./syntax/names.ts");
await import("./syntax/this.ts");
