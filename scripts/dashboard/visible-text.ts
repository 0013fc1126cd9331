/** Makes our own files and all libraries create elements with `src/web/ui/jsx-runtime.ts`. */
import { resolve } from "node:path";
import type { BunPlugin } from "bun";

const RUNTIME = resolve(import.meta.dir, "../../src/web/ui/jsx-runtime.ts");

export const visibleText: BunPlugin = {
  name: "visible-text",
  setup(build) {
    build.onResolve({ filter: /^react\/jsx-runtime$/ }, ({ importer }) =>
      importer === RUNTIME ? undefined : { path: RUNTIME },
    );
  },
};
