/** The program without its commands. */
import { Command } from "commander";
import { BUILD } from "../core/version.ts";

export const bareProgram = (): Command =>
  new Command("skep")
    .description("A team of AI agents in one file.")
    .version(BUILD.version, "-v, --version")
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "skep: ")) });
