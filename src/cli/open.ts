/** `skep open`: opens the server's pages in the browser. */
import type { Command } from "commander";
import { say } from "./resource/command.ts";
import { findOne } from "./resource/find.ts";
import { runs } from "./resource/runs.ts";
import { connect, type ServerFlags, withServer } from "./server/locate.ts";

const PAGES = { home: "/", api: "/docs" } as const;
const isPage = (word: string): word is keyof typeof PAGES => Object.hasOwn(PAGES, word);

export function openCommand(program: Command, exit: (code: number) => void): void {
  withServer(program.command("open"))
    .description("open the dashboard, the API reference or a run in the browser, and print the address")
    .argument("[page]", `page to open: ${Object.keys(PAGES).join(", ")}, or the id of a run`, "home")
    .action(async (page: string, flags: ServerFlags) => {
      const client = await connect(flags);
      const address = `${client.url}${isPage(page) ? PAGES[page] : `/runs/${(await findOne(client, runs, page))["id"]}`}`;
      const opened = !flags.json && process.stdout.isTTY && openInBrowser(address);
      say(flags, { json: { url: address, opened }, text: address }, exit);
    });
}

/** Starts a program that opens the address and ignores its output. @returns whether it could be started. */
function openInBrowser(address: string): boolean {
  const hasDisplay = process.platform === "darwin" || process.env["DISPLAY"] || process.env["WAYLAND_DISPLAY"];
  const opener = hasDisplay && Bun.which(process.platform === "darwin" ? "open" : "xdg-open");
  if (!opener) return false;
  Bun.spawn([opener, address], { stdin: "ignore", stdout: "ignore", stderr: "ignore" }).unref();
  return true;
}
