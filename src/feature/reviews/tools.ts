/** The tool with which agents answer the comments that their work was sent back with. */
import { type Tool, type ToolSource, toolsOf } from "../../engine/tool.ts";
import { CommentAnswer } from "./comment-model.ts";
import type { Comments } from "./comments.ts";

export function reviewTools(comments: Pick<Comments, "answer" | "hasSent">): ToolSource {
  const tool: Tool<CommentAnswer> = {
    name: "answer_comment",
    // The group `end` gives it to every agent of such work, whatever its list of tools: the comments are part of its
    // task.
    group: "end",
    description:
      "Answers a comment that this work was sent back with. The answer stands below the comment in the review. Call it once for each comment, after you settled it.",
    parameters: CommentAnswer,
    timeoutMs: 10_000,
    async run({ comment_id, answer }, { execution, masker }) {
      comments.answer(execution.workId ?? "", execution.agentId, { comment_id, answer: masker.text(answer) });
      return { ok: true, output: "The answer stands below the comment." };
    },
  };
  return toolsOf("reviews", [tool], ({ workId }) => workId !== undefined && comments.hasSent(workId));
}
