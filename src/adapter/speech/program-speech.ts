/**
 * Speech by a program of this machine: espeak-ng, or piper with a voice model. The text goes in on standard input and
 * the sound comes back in a file: espeak-ng writes false sizes into a WAV that it sends to standard output.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { invalidField, unavailable } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { SpeechService, Voice } from "./speech.ts";

/** Words per minute at speed 1. */
const ESPEAK_SPEED = 175;

export function createEspeak(): SpeechService {
  const name = "espeak-ng";
  return {
    name,
    formats: ["wav"],
    maxCharacters: 4_096,
    speak: ({ text, voiceId = "en", speed, signal }) =>
      spoken(name, text, signal, (file) => {
        if (!/^[A-Za-z][\w+-]{0,40}$/.test(voiceId)) throw noVoice(name);
        return ["-w", file, "-v", voiceId, "-s", String(Math.round(ESPEAK_SPEED * speed)), "--stdin"];
      }),
    async voices(signal) {
      const { output } = await run([name, "--voices"], "", signal);
      const rows = output.split("\n").slice(1);
      return rows.flatMap((row): Voice[] => {
        const [, language = "", , label = ""] = row.trim().split(/\s+/);
        if (language === "") return [];
        const words = label.replaceAll("_", " ");
        return [{ id: language, name: words, provider: name, languages: [language], preview_url: null }];
      });
    },
  };
}

/** @param model path of the voice's `.onnx` file. */
export function createPiper(model: string): SpeechService {
  const name = "piper";
  const id = /([^/]+?)(?:\.onnx)?$/.exec(model)?.[1] ?? model;
  return {
    name,
    formats: ["wav"],
    maxCharacters: 4_096,
    speak: ({ text, speed, signal }) =>
      // One line is one utterance.
      spoken(name, text.replaceAll("\n", " "), signal, (file) => [
        ...["--model", model, "--output_file", file],
        ...["--length_scale", String(1 / speed)],
      ]),
    voices: async () => [{ id, name: id, provider: name, languages: [], preview_url: null }],
  };
}

async function spoken(program: string, text: string, signal: AbortSignal, argsOf: (file: string) => string[]) {
  const folder = await mkdtemp(join(tmpdir(), "skep-speech-"));
  try {
    const file = join(folder, "speech.wav");
    const { code, output } = await run([program, ...argsOf(file)], text, signal);
    if (code !== 0) throw /voice/i.test(output) ? noVoice(program) : failed(program);
    const audio = await readFile(file).catch(() => undefined);
    if (!audio?.byteLength) throw failed(program);
    return { audio: new Uint8Array(audio), costUsd: 0 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const noVoice = (program: string) => invalidField("/voice_id", `${program} has no such voice`);
const failed = (program: string) => unavailable("speech_refused", `${program} made no sound of the text.`);

/** @throws Problem 503 `speech_unreachable` when the program is not installed. */
async function run(command: string[], text: string, signal: AbortSignal): Promise<{ code: number; output: string }> {
  const [program = ""] = command;
  const path = Bun.which(program);
  if (!path) throw unavailable("speech_unreachable", `${program} is not installed on this machine. Install it first.`);
  const child = Bun.spawn([path, ...command.slice(1)], {
    stdin: new TextEncoder().encode(text),
    stdout: "pipe",
    stderr: "pipe",
    signal,
    timeout: LIMITS.speechTimeoutMs,
    killSignal: "SIGKILL",
    env: { PATH: process.env["PATH"] ?? "", LANG: "C.UTF-8" },
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  signal.throwIfAborted();
  return { code, output: code === 0 ? out : err };
}
