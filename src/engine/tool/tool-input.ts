/** Helpers of the file tools: a path's parameter, and text in a form that a model can read. */
import { Type } from "@sinclair/typebox";
import { badRequest, Problem } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { toolMaker } from "../tool.ts";

/** Defines a tool that works on the files of the workspace. */
export const fileTool = toolMaker({ group: "files", timeoutMs: LIMITS.toolTimeoutMs });

export const pathParameter = (what: string) =>
  Type.String({ description: `${what}, relative to the workspace (or absolute below /workspace).`, minLength: 1 });

/** Number of bytes at the beginning that decide whether a file is text. */
const SNIFFED_BYTES = 8_192;
const IMAGES: readonly [magic: string, kind: string][] = [
  ["89504e47", "PNG"],
  ["ffd8ff", "JPEG"],
  ["47494638", "GIF"],
  ["424d", "BMP"],
];

/** @throws Problem 415 for images and other binary files; it names the kind of file. */
export function assertText(path: string, data: Uint8Array): void {
  const front = Buffer.from(data.subarray(0, SNIFFED_BYTES));
  if (!front.includes(0)) return;
  const hex = front.toString("hex", 0, 4);
  const kind = IMAGES.find(([magic]) => hex.startsWith(magic))?.[1];
  const isWebp = front.toString("latin1", 8, 12) === "WEBP";
  const what = kind || isWebp ? `a ${kind ?? "WebP"} image` : "a binary file";
  throw new Problem(415, "not_text", `${path} is ${what} of ${data.length} bytes; only text can be read.`);
}

/** The text of a file to edit. It must be UTF-8, so that decoding and encoding do not change it. */
export function editableTextOf(path: string, data: Uint8Array): string {
  assertText(path, data);
  const text = new TextDecoder().decode(data);
  if (!Buffer.from(text).equals(stripBom(data))) throw badRequest(`${path} is not UTF-8; it cannot be edited as text.`);
  return text;
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
export const hasBom = (data: Uint8Array) => BOM.equals(data.subarray(0, 3));
const stripBom = (data: Uint8Array) => (hasBom(data) ? data.subarray(3) : data);

/** A count with its noun: `2 files`, `1 file`. */
export const formatCount = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Number of lines in the first `end` characters; at least 1. */
export function lineCount(text: string, end = text.length): number {
  let lines = 1;
  for (let at = 0; at < end; at++) if (text.charCodeAt(at) === 10) lines++;
  return lines;
}
