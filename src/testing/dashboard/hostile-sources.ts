/** Hostile text in what a model says and in a repository. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Marks } from "./hostile-marks.ts";
import { complete, say } from "./script.ts";

/** Hostile texts that models say. @returns the environment of a server with these models. */
export function hostileModels(folder: string, { text }: Marks): Record<string, string> {
  const reply = {
    thinking: text("model: thinking"),
    ...say(text("model: text"), "bash", {
      command: `printf '%s\\n' '${text("tool: input", { max: 90 })}' >&2; exit 3`,
    }),
  };
  const file = text("repository: name of a changed file", { name: true, max: 120 });
  const script = {
    version: 1,
    steps: {
      talk: [
        reply,
        say("A file.", "write", { path: `${file}.md`, content: text("repository: content of a changed file") }),
        complete({ findings: text("model: output") }, text("model: summary")),
      ],
      unknown: [{ tool_calls: [{ tool: text("model: name of a tool", { max: 60 }), input: {} }] }],
      fail: [{ tool_calls: [{ tool: "fail", input: { reason: text("model: reason of a failure") } }] }],
      tools: [say("I use it.", "odd__speak", { text: text("tool server: input") }), complete({}, "Used.")],
    },
    agents: { worker: [reply, complete({}, text("model: result of handed work"))] },
    chat: [reply, { text: text("model: reply in a chat") }],
    default: [complete({}, "done")],
  };
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "hostile-script.json");
  writeFileSync(path, JSON.stringify(script));
  const allowed = { FETCH_ALLOW: "127.0.0.1", NOTIFY_ALLOW: "127.0.0.1", ALLOW_LOCAL_REPOSITORIES: "true" };
  return { ...allowed, DEMO_SCRIPT: path, ALLOW_HOST_SHELL: "true" };
}

/** The files of a hostile repository. */
export function hostileRepository({ text }: Marks): Record<string, string> {
  const name = text("repository: name of a file", { name: true, max: 120 });
  return {
    "README.md": "# Shop\n",
    [`${name}.ts`]:
      `/** ${text("repository: comment of a symbol").replaceAll("*/", "")} */\n` +
      "export function first(): number {\n  return second();\n}\n\nexport function second(): number {\n  return 1;\n}\n",
  };
}
