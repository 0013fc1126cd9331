/** `skep open`: the server's pages in the browser. */
import { Argument, type Command } from "commander";
import { say } from "./resource/command.ts";
import { connect, type ServerFlags, withServer } from "./server/locate.ts";

const PAGES = { home: "/", api: "/docs" } as const;

export function openCommand(program: Command, exit: (code: number) => void): void {
  withServer(program.command("open"))
    .description("open the server's page in the browser, or print its address where there is none")
    .addArgument(new Argument("[page]", "which").choices(Object.keys(PAGES)).default("home"))
    .action(async (page: keyof typeof PAGES, flags: ServerFlags) => {
      const { url } = await connect(flags);
      const address = `${url}${PAGES[page]}`;
      const opened = !flags.json && process.stdout.isTTY && openInBrowser(address);
      say(flags, { json: { url: address, opened }, text: address }, exit);
    });
}

/** Whether a program that opens addresses was started. Its output is nobody's concern. */
function openInBrowser(address: string): boolean {
  const hasDisplay = process.platform === "darwin" || process.env["DISPLAY"] || process.env["WAYLAND_DISPLAY"];
  const opener = hasDisplay && Bun.which(process.platform === "darwin" ? "open" : "xdg-open");
  if (!opener) return false;
  Bun.spawn([opener, address], { stdin: "ignore", stdout: "ignore", stderr: "ignore" }).unref();
  return true;
}
