/** Turns what a person writes in an editor, with its files and pictures, into a message of a chat. */
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import { badRequest } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";

interface Prompt {
  message: string;
  files: File[];
  hasPictures: boolean;
}

/**
 * @param cwd the folder that the editor has open. @throws Problem 400 for an empty prompt, one with too much text, or
 * content of an unknown kind.
 */
export function readPrompt(blocks: readonly ContentBlock[], cwd: string): Prompt {
  const files: File[] = [];
  const attach = (data: string, name: string, type: string): string => {
    const bytes = Buffer.from(data, "base64");
    if (bytes.length === 0) throw badRequest(`${name} is empty, or not base64.`);
    files.push(new File([bytes], name, { type }));
    return "";
  };
  const said = blocks.map((block, at): string => {
    switch (block.type) {
      case "text":
        return block.text;
      case "image":
        return attach(block.data, `picture-${at + 1}.${endingOf(block.mimeType)}`, block.mimeType);
      case "resource_link":
        return nameOf(block.uri, cwd);
      case "resource": {
        const { resource } = block;
        const name = nameOf(resource.uri, cwd);
        if ("text" in resource) return `\n\n${name}:\n${fence(resource.text)}\n\n`;
        const file = name.split(/[/\\]/).at(-1) || "file";
        return attach(resource.blob, file.slice(-100), resource.mimeType ?? "application/octet-stream");
      }
      default:
        throw badRequest("Skep takes text, pictures and files in a prompt, and no sound.");
    }
  });
  const message = said.join("").trim();
  if (message === "" && files.length === 0) throw badRequest("The prompt is empty.");
  if (message.length > LIMITS.textCharacters)
    throw badRequest(
      `The prompt has ${message.length} characters of text; at most ${LIMITS.textCharacters} fit. Name large files by their paths.`,
    );
  return {
    message: message || "See what is attached.",
    files,
    hasPictures: blocks.some(({ type }) => type === "image"),
  };
}

const endingOf = (type: string): string => /^image\/(\w{1,10})/.exec(type)?.[1] ?? "bin";

/** Names a file inside the open folder by its relative path, which is also its path in the project. */
function nameOf(uri: string, cwd: string): string {
  if (!uri.startsWith("file://") || !URL.canParse(uri)) return uri;
  try {
    const path = relative(cwd, fileURLToPath(uri));
    return path === "" || path.startsWith("..") ? fileURLToPath(uri) : path;
  } catch {
    return uri;
  }
}

/** The text between code fences that are longer than any run of backticks in it. */
function fence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([marks]) => marks.length));
  const mark = "`".repeat(longest + 1);
  return `${mark}\n${text}\n${mark}`;
}
