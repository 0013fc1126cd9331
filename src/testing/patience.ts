/** Loaded before every test file: a busy machine makes a test slow, not wrong. Tests wait on events; this only ends what hangs. */
import { setDefaultTimeout } from "bun:test";

setDefaultTimeout(60_000);
