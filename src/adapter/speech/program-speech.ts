/**
 * Speech by a program of this machine: espeak-ng, or piper with a voice model. The text goes to standard input. The
 * sound comes back in a file, because espeak-ng writes wrong sizes into a WAV on standard output.
 */
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { invalidField, unavailable } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { SpeechService, Voice } from "./speech.ts";

/** Words per minute at speed 1. */
const ESPEAK_SPEED = 175;

/** Voices can be installed without changing the program's file, so the list is only reused for this long. */
const VOICES_KEPT_MS = 5 * 60_000;

interface ProgramOptions {
  /** Folders in which to search for the program, as in PATH. */
  path?: string;
  /** Monotonic clock, ms. */
  now?: () => number;
}

/**
 * Speech by espeak-ng. The list of voices is remembered, because the program takes long to list them and pages ask
 * whenever they are opened.
 */
export function createEspeak({
  path = searchPath(),
  now = () => performance.now(),
}: ProgramOptions = {}): SpeechService {
  const name = "espeak-ng";
  let known: { version: string; until: number; voices: Voice[] } | undefined;
  return {
    name,
    formats: ["wav"],
    maxCharacters: 4_096,
    speak: ({ text, voiceId = "en", speed, signal }) =>
      runProgram(programAt(name, path), text, signal, (file) => {
        if (!/^[A-Za-z][\w+-]{0,40}$/.test(voiceId)) throw noVoice(name);
        return ["-w", file, "-v", voiceId, "-s", String(Math.round(ESPEAK_SPEED * speed)), "--stdin"];
      }),
    async voices(signal) {
      const program = programAt(name, path);
      const found = await stat(program.file).catch(() => undefined);
      if (!found) throw notInstalled(name);
      const version = `${program.file} ${found.ino} ${found.size} ${found.mtimeMs}`;
      if (known?.version === version && now() < known.until) return known.voices;
      const { code, output } = await run(program, ["--voices"], "", signal);
      if (code !== 0) throw unavailable("speech_refused", `${name} did not list its voices.`);
      known = { version, until: now() + VOICES_KEPT_MS, voices: voicesIn(output) };
      return known.voices;
    },
  };
}

/** Parses the rows of `espeak-ng --voices`, below the heading. */
const voicesIn = (output: string): Voice[] =>
  output
    .split("\n")
    .slice(1)
    .flatMap((row): Voice[] => {
      const [, language = "", , label = ""] = row.trim().split(/\s+/);
      if (language === "") return [];
      const words = label.replaceAll("_", " ");
      return [{ id: language, name: words, provider: "espeak-ng", languages: [language], preview_url: null }];
    });

/** @param model path of the voice's `.onnx` file. */
export function createPiper(model: string): SpeechService {
  const name = "piper";
  const id = basename(model, ".onnx");
  return {
    name,
    formats: ["wav"],
    maxCharacters: 4_096,
    speak: ({ text, speed, signal }) =>
      // Piper takes each line as a separate utterance.
      runProgram(programAt(name), text.replaceAll("\n", " "), signal, (file) => [
        "--model",
        model,
        "--output_file",
        file,
        "--length_scale",
        String(1 / speed),
      ]),
    voices: async () => [{ id, name: id, provider: name, languages: [], preview_url: null }],
  };
}

interface Program {
  name: string;
  file: string;
}

const searchPath = (): string => process.env["PATH"] ?? "";

/** Finds a program. @throws Problem 503 `speech_unreachable` when it is not installed. */
function programAt(name: string, path = searchPath()): Program {
  const file = Bun.which(name, { PATH: path });
  if (!file) throw notInstalled(name);
  return { name, file };
}

async function runProgram(program: Program, text: string, signal: AbortSignal, argsOf: (file: string) => string[]) {
  const folder = await mkdtemp(join(tmpdir(), "skep-speech-"));
  try {
    const file = join(folder, "speech.wav");
    const { code, output } = await run(program, argsOf(file), text, signal);
    if (code !== 0) throw /voice/i.test(output) ? noVoice(program.name) : createSpeechProblem(program.name);
    const audio = await readFile(file).catch(() => undefined);
    if (!audio?.byteLength) throw createSpeechProblem(program.name);
    return { audio: new Uint8Array(audio), costUsd: 0 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const noVoice = (program: string) => invalidField("/voice_id", `${program} has no such voice`);
const notInstalled = (program: string) =>
  unavailable("speech_unreachable", `${program} is not installed on this machine. Install it first.`);
const createSpeechProblem = (program: string) => unavailable("speech_refused", `${program} made no sound of the text.`);

async function run({ file }: Program, args: string[], text: string, signal: AbortSignal) {
  const child = Bun.spawn([file, ...args], {
    stdin: new TextEncoder().encode(text),
    stdout: "pipe",
    stderr: "pipe",
    signal,
    timeout: LIMITS.speechTimeoutMs,
    killSignal: "SIGKILL",
    env: { PATH: searchPath(), LANG: "C.UTF-8" },
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  signal.throwIfAborted();
  return { code, output: code === 0 ? out : err };
}
