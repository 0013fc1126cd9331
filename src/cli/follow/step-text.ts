/** Shows what agents write above a live tree: whole lines, under the names of their steps. */
import { paint, stripControls } from "../terminal/style.ts";
import type { Follower } from "./follow.ts";

/** A line is written after this many characters even if it has not ended. */
const LINE_CHARACTERS = 4_000;

export function createStepText(write: (text: string) => void): Follower {
  const held = new Map<string, string>();
  let last = "";
  const put = (step: string, text: string): void => {
    if (text === "") return;
    const head = step === last ? "" : `${paint("bold", step)}\n`;
    last = step;
    write(`${head}${stripControls(text).replace(/^/gm, "  ").trimEnd()}\n`);
  };
  return {
    take({ kind, step_id = "", data }) {
      if (kind === "agent_output" && data.call_id === undefined) {
        const text = (held.get(step_id) ?? "") + String(data.text ?? "");
        const end = text.length > LINE_CHARACTERS ? text.length : text.lastIndexOf("\n") + 1;
        put(step_id, text.slice(0, end).replace(/\n$/, ""));
        held.set(step_id, text.slice(end));
      }
      if (kind === "output_withdrawn") {
        held.delete(step_id);
        put(step_id, "(what was shown of it last no longer counts)");
      }
      if (kind !== "tool_call_start" && kind !== "session_ended") return;
      put(step_id, held.get(step_id) ?? "");
      held.delete(step_id);
    },
    end() {
      for (const [step, text] of held) put(step, text);
      held.clear();
    },
  };
}
