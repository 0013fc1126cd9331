/** Imports of packages are resolved by the packages' own configuration, whatever their folders are called. */
import { expect, test } from "bun:test";
import { createProjectFiles } from "../project-files.ts";
import { createEcmascriptResolver } from "./resolver.ts";

/** Resolves a module's name from `app/main.ts` to a path; "" for a module outside of the repository. */
function resolver(paths: readonly string[], configs: Readonly<Record<string, unknown>>) {
  const files = [...paths, "app/main.ts"];
  const project = createProjectFiles({
    paths: files,
    configs: Object.keys(configs),
    readConfig: (path) => (path in configs ? JSON.stringify(configs[path]) : undefined),
    spaceExists: () => false,
  });
  const { resolve } = createEcmascriptResolver(project);
  return (module: string) => {
    const target = resolve(module, "*", files.length - 1);
    return target.kind === "file" ? files[target.file]! : "";
  };
}

test("what exports names is found where tsconfig's outDir and rootDir say that it is made from", () => {
  const lead = resolver(["kit/code/start.ts", "kit/code/tools/cut.ts", "kit/start.ts"], {
    "kit/package.json": {
      name: "kit",
      exports: { ".": "./made/start.js", "./tools/*": { types: "./made/tools/*.d.ts", default: "./made/tools/*.js" } },
    },
    "kit/tsconfig.json": { compilerOptions: { outDir: "made", rootDir: "code" } },
  });
  expect(lead("kit")).toBe("kit/code/start.ts");
  expect(lead("kit/tools/cut")).toBe("kit/code/tools/cut.ts");
  expect(lead("kit/tools/none")).toBe("");
});

test("without a rootDir, sources are below the folder that all inputs share; extends is followed", () => {
  const lead = resolver(["kit/lib/one/a.ts", "kit/lib/two/b.ts"], {
    "kit/package.json": { name: "kit", main: "dist/one/a.js" },
    "kit/tsconfig.build.json": { extends: "./tsconfig.json", include: ["lib/one/**/*.ts", "lib/two"] },
    "kit/tsconfig.json": { compilerOptions: { outDir: "./dist" } },
  });
  expect(lead("kit")).toBe("kit/lib/one/a.ts");
});

test("a package that a bundler builds is found in its sources; a folder that is there is not built", () => {
  const configs = {
    "kit/package.json": { name: "kit", exports: { ".": "./dist/esm/index.mjs", "./x": "./there/y.js" } },
  };
  const lead = resolver(["kit/src/index.mts", "kit/src/y.ts", "kit/there/other.ts"], configs);
  expect(lead("kit")).toBe("kit/src/index.mts");
  expect(lead("kit/x")).toBe("");
});

test("a package without configuration begins at index, in src or beside its package.json", () => {
  const configs = { "a/package.json": { name: "a" }, "b/package.json": { name: "b" }, "c/package.json": { name: "c" } };
  const lead = resolver(["a/src/index.ts", "b/index.js", "c/source/index.ts"], configs);
  expect([lead("a"), lead("b"), lead("c")]).toEqual(["a/src/index.ts", "b/index.js", ""]);
});
