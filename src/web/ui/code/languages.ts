/** Finds the language of a file by its name. The language's tokenizer is loaded on first use. */
import type { StreamParser } from "@codemirror/streamparser";

export type Language = StreamParser<unknown>;
type Load = () => Promise<Language>;

const loadClike = () => import("@codemirror/legacy-modes/mode/clike");
const loadCss = () => import("@codemirror/legacy-modes/mode/css");
const loadScript = () => import("@codemirror/legacy-modes/mode/javascript");
const loadXml = () => import("@codemirror/legacy-modes/mode/xml");

const LANGUAGES: [endings: string, load: Load][] = [
  ["ts tsx mts cts", async () => (await loadScript()).typescript],
  ["js jsx mjs cjs", async () => (await loadScript()).javascript],
  ["json jsonc webmanifest", async () => (await loadScript()).json],
  ["py pyi", async () => (await import("@codemirror/legacy-modes/mode/python")).python],
  ["go", async () => (await import("@codemirror/legacy-modes/mode/go")).go],
  ["rs", async () => (await import("@codemirror/legacy-modes/mode/rust")).rust],
  ["java", async () => (await loadClike()).java],
  ["kt kts", async () => (await loadClike()).kotlin],
  ["scala sc", async () => (await loadClike()).scala],
  ["cs", async () => (await loadClike()).csharp],
  ["c h", async () => (await loadClike()).c],
  ["cc cpp cxx hpp hh", async () => (await loadClike()).cpp],
  ["dart", async () => (await loadClike()).dart],
  ["rb rake gemspec", async () => (await import("@codemirror/legacy-modes/mode/ruby")).ruby],
  ["swift", async () => (await import("@codemirror/legacy-modes/mode/swift")).swift],
  ["lua", async () => (await import("@codemirror/legacy-modes/mode/lua")).lua],
  ["sh bash zsh", async () => (await import("@codemirror/legacy-modes/mode/shell")).shell],
  ["ps1", async () => (await import("@codemirror/legacy-modes/mode/powershell")).powerShell],
  ["sql", async () => (await import("@codemirror/legacy-modes/mode/sql")).standardSQL],
  ["css", async () => (await loadCss()).css],
  ["scss", async () => (await loadCss()).sCSS],
  ["less", async () => (await loadCss()).less],
  ["html htm vue svelte", async () => (await loadXml()).html],
  ["xml svg csproj plist", async () => (await loadXml()).xml],
  ["yaml yml", async () => (await import("@codemirror/legacy-modes/mode/yaml")).yaml],
  ["toml", async () => (await import("@codemirror/legacy-modes/mode/toml")).toml],
  ["ini properties env", async () => (await import("@codemirror/legacy-modes/mode/properties")).properties],
  ["proto", async () => (await import("@codemirror/legacy-modes/mode/protobuf")).protobuf],
  ["dockerfile", async () => (await import("@codemirror/legacy-modes/mode/dockerfile")).dockerFile],
];

const BY_ENDING = new Map(
  LANGUAGES.flatMap(([endings, load]) => endings.split(" ").map((one) => [one, load] as const)),
);

/** @returns a function that loads the file's language; undefined for unknown languages. */
export function languageOf(path: string): Load | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return BY_ENDING.get(name.slice(name.lastIndexOf(".") + 1));
}
