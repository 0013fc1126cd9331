/**
 * A terminal for tests: runs a command in a pseudo-terminal of a given size and computes its screen with a terminal
 * emulator. Keys can be typed when something is on the screen.
 */
import headless from "@xterm/headless";

interface TerminalOptions {
  columns: number;
  rows?: number;
  env?: Record<string, string>;
  cwd?: string;
}

export interface TestTerminal {
  /** The text on the screen and above it, without spaces at line ends. */
  text(): string;
  /** Waits until the screen shows the pattern. @throws Error with the screen if the command ends before that. */
  shows(pattern: RegExp): Promise<void>;
  type(keys: string): void;
  resize(columns: number, rows: number): void;
  kill(signal: NodeJS.Signals): void;
  /** The exit code, once all of the command's output is on the screen. */
  readonly exited: Promise<number>;
  /** Everything that was sent to the terminal, including control codes. */
  readOutput(): string;
}

export function openTerminal(command: string[], { columns, rows = 30, env = {}, cwd }: TerminalOptions): TestTerminal {
  const screen = new headless.Terminal({ cols: columns, rows, scrollback: 1_000, allowProposedApi: true });
  let sent = "";
  let pending = 0;
  let changed = Promise.withResolvers<void>();
  const decoder = new TextDecoder();
  const wake = () => {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  };
  const child = Bun.spawn(command, {
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm-256color", TZ: "UTC", ...env },
    ...(cwd ? { cwd } : {}),
    terminal: {
      cols: columns,
      rows,
      data(_terminal, chunk) {
        const text = decoder.decode(chunk, { stream: true });
        sent += text;
        pending++;
        screen.write(text, () => {
          pending--;
          wake();
        });
      },
    },
  });
  let over = false;
  const exited = child.exited.then(async (code) => {
    // The last output may still be on its way to us and through the emulator, so wait until nothing arrives for some
    // rounds.
    for (let [quiet, seen] = [0, -1]; quiet < 3; seen = sent.length) {
      await Bun.sleep(20);
      quiet = pending === 0 && sent.length === seen ? quiet + 1 : 0;
    }
    over = true;
    child.terminal?.close();
    wake();
    return code;
  });
  const text = (): string => {
    const { active } = screen.buffer;
    const lines = Array.from({ length: active.length }, (_, at) => active.getLine(at)?.translateToString(true) ?? "");
    return lines.join("\n").trimEnd();
  };
  return {
    text,
    exited,
    readOutput: () => sent,
    type: (keys) => void child.terminal?.write(keys),
    resize(cols, height) {
      screen.resize(cols, height);
      child.terminal?.resize(cols, height);
    },
    kill: (signal) => child.kill(signal),
    async shows(pattern) {
      for (let next = changed.promise; !pattern.test(text()); next = changed.promise) {
        if (over) throw new Error(`It ended and never showed ${pattern}:\n${text()}`);
        await next;
      }
    },
  };
}
