/** `skep join`: becomes a member of a project through an invitation link. */
import type { Command } from "commander";
import { isProblem, Problem } from "../core/errors.ts";
import { readSecret } from "./read-input.ts";
import { say } from "./resource/command.ts";
import { aRole } from "./resource/project-members.ts";
import { connect, type ServerFlags, withServer } from "./server/locate.ts";

export function joinCommand(program: Command, exit: (code: number) => void): void {
  withServer(program.command("join"))
    .description("join a project with the link of an invitation")
    .argument(
      "[link]",
      "link of the invitation, or its token (default: read from standard input, where no other user sees it)",
    )
    .action(async (given: string | undefined, flags: ServerFlags) => {
      const link = (given ?? (await readSecret("link of the invitation", {}))).trim();
      const client = await connect(flags);
      const joined = await client.call("POST", "/v1/invitations/accept", { token: tokenOf(link) }).catch((error) => {
        throw isProblem(error) && error.status === 404 ? toLinkProblem(error, link, client.url) : error;
      });
      const { project_name, role } = joined;
      const text = joined.joined
        ? `You are ${aRole(role)} of ${project_name} now.`
        : `You are ${aRole(role)} of ${project_name} already.`;
      say(flags, { json: joined, text }, exit);
    });
}

const JOIN = "/join/";
const tokenOf = (link: string): string => {
  const at = link.lastIndexOf(JOIN);
  return at < 0 ? link : link.slice(at + JOIN.length);
};

/** If the invitation link belongs to another server, this one does not know it: says where to use the link. */
function toLinkProblem(problem: Problem, link: string, url: string): Problem {
  const at = link.lastIndexOf(JOIN);
  const base = at < 0 ? url : link.slice(0, at);
  if (base === url) return problem;
  return new Problem(
    404,
    problem.code,
    `${url} has no such invitation. The link is of ${base}: skep join --url ${base}`,
  );
}
