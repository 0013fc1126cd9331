/** GitHub, as an App (short-lived tokens, one installation per owner) or with one access token. */

import { createAppAuth } from "@octokit/auth-app";
import { Octokit } from "@octokit/core";
import { Problem } from "../../core/errors.ts";
import { membersOf, textIn } from "../../core/is-object.ts";
import { type CodeHost, type CodeHostAccess, type HostRepository, splitName } from "./code-host.ts";
import { askHost, type HostFetch, pagesOf } from "./host-fetch.ts";

const PAGE = 100;
/** Reads at most five pages of comments. */
const pages = pagesOf({ size: PAGE, most: 5 });
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

interface Door {
  /** The client of the App itself, or of the token's user. */
  own: Octokit;
  getClient(id: number): Octokit;
  /** Runs work with the client whose credential covers this repository. */
  runWithClient<T>(repository: string, work: (octokit: Octokit) => Promise<T>): Promise<T>;
  gitToken(repository: string, fresh: boolean): Promise<string>;
}

export function createGitHub(access: CodeHostAccess, fetch: HostFetch, onToken: (token: string) => void): CodeHost {
  const options = { baseUrl: access.url, request: { fetch }, userAgent: "skep", log: QUIET };
  const door = access.app ? appDoor(access.app, options, onToken) : tokenDoor(access.token ?? "", options);
  /** Makes one call about a repository. */
  const askAbout = <T>(
    repository: string,
    work: (octokit: Octokit, place: { owner: string; repo: string }) => Promise<T>,
  ) => askHost(() => door.runWithClient(repository, (octokit) => work(octokit, splitName(repository))));
  return {
    self: () => askHost(() => selfOf(door.own, access.app !== undefined)),
    repositories: (limit, after) => askHost(() => listRepositories(door, access.app !== undefined, limit, after)),
    repository: (name) =>
      askAbout(name, async (octokit, place) =>
        presentRepository((await octokit.request("GET /repos/{owner}/{repo}", place)).data),
      ),
    async gitAuthorization(name, fresh) {
      const token = await askHost(() => door.gitToken(name, fresh));
      return `Basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}`;
    },
    permission: (name, username) =>
      askAbout(name, async (octokit, place) => {
        const route = "GET /repos/{owner}/{repo}/collaborators/{username}/permission";
        const { permission } = (await octokit.request(route, { ...place, username })).data;
        return (["admin", "write", "read"] as const).find((one) => one === permission) ?? "none";
      }),
    isBot: (name, username) =>
      askAbout(
        name,
        async (octokit) => (await octokit.request("GET /users/{username}", { username })).data.type === "Bot",
      ),
    issue: (name, issue_number) =>
      askAbout(name, async (octokit, place) => {
        const { data } = await octokit.request("GET /repos/{owner}/{repo}/issues/{issue_number}", {
          ...place,
          issue_number,
        });
        const labels = data.labels.map((label) => (typeof label === "string" ? label : (label.name ?? "")));
        return {
          number: data.number,
          title: data.title,
          body: data.body ?? "",
          author: data.user?.login ?? "",
          open: data.state === "open",
          labels,
          isPull: data.pull_request !== undefined,
          url: data.html_url,
        };
      }),
    comment: (name, id) =>
      askAbout(name, async (octokit, place) => {
        const route = "GET /repos/{owner}/{repo}/issues/comments/{comment_id}";
        return presentComment((await octokit.request(route, { ...place, comment_id: Number(id) })).data);
      }),
    comments: (name, issue_number) =>
      askAbout(name, (octokit, place) =>
        pages(async (page) => {
          const route = "GET /repos/{owner}/{repo}/issues/{issue_number}/comments";
          const { data } = await octokit.request(route, { ...place, issue_number, per_page: PAGE, page });
          return data.map(presentComment);
        }),
      ),
    say: (name, issue_number, body) =>
      askAbout(name, async (octokit, place) => {
        const route = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments";
        return String((await octokit.request(route, { ...place, issue_number, body })).data.id);
      }),
    edit: (name, id, body) =>
      askAbout(name, async (octokit, place) => {
        const route = "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}";
        await octokit.request(route, { ...place, comment_id: Number(id), body });
      }),
    pull: (name, pull_number) =>
      askAbout(name, async (octokit, place) => {
        const { data } = await octokit.request("GET /repos/{owner}/{repo}/pulls/{pull_number}", {
          ...place,
          pull_number,
        });
        return {
          number: data.number,
          title: data.title,
          body: data.body ?? "",
          author: data.user.login,
          open: data.state === "open",
          merged: data.merged,
          mergeCommit: data.merge_commit_sha,
          labels: data.labels.map((label) => label.name),
          head: { branch: data.head.ref, commit: data.head.sha },
          base: data.base.ref,
          fork: data.head.repo?.full_name !== data.base.repo.full_name,
          url: data.html_url,
        };
      }),
    pullDiff: (name, pull_number, maxBytes) =>
      askAbout(name, async (octokit, place) => {
        const route = "GET /repos/{owner}/{repo}/pulls/{pull_number}";
        const { data } = await octokit.request(route, { ...place, pull_number, mediaType: { format: "diff" } });
        return String(data).slice(0, maxBytes);
      }),
    reviewComments: (name, pull_number) =>
      askAbout(name, async (octokit, place) => {
        const at = { ...place, pull_number, per_page: PAGE };
        const reviews = await pages(async (page) =>
          (await octokit.request("GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews", { ...at, page })).data.map(
            (one) => ({
              ...presentComment({ ...one, created_at: one.submitted_at ?? "" }),
              id: `review-${one.id}`,
              path: null,
              line: null,
            }),
          ),
        );
        const lines = await pages(async (page) =>
          (await octokit.request("GET /repos/{owner}/{repo}/pulls/{pull_number}/comments", { ...at, page })).data.map(
            (one) => ({
              ...presentComment(one),
              id: `line-${one.id}`,
              path: one.path,
              line: one.line ?? one.original_line ?? null,
            }),
          ),
        );
        return [...reviews.filter(({ body }) => body !== ""), ...lines];
      }),
    openPull: (name, { title, body, head, base }) =>
      askAbout(name, async (octokit, place) => {
        const known = await octokit.request("GET /repos/{owner}/{repo}/pulls", {
          ...place,
          head: `${place.owner}:${head}`,
          state: "open" as const,
          per_page: 1,
        });
        const [found] = known.data;
        if (found) return { number: found.number, url: found.html_url };
        const made = await octokit.request("POST /repos/{owner}/{repo}/pulls", { ...place, title, body, head, base });
        return { number: made.data.number, url: made.data.html_url };
      }),
  };
}

type Options = NonNullable<ConstructorParameters<typeof Octokit>[0]>;

function tokenDoor(token: string, options: Options): Door {
  const own = new Octokit({ ...options, auth: token });
  return { own, getClient: () => own, runWithClient: (_, work) => work(own), gitToken: async () => token };
}

/** Extracts the token from the library's answer, whose type does not name it. */
function tokenIn(answer: unknown): string {
  const token = textIn(answer, "token");
  if (token === undefined) throw new Error("The library for GitHub gave no token.");
  return token;
}

function appDoor(
  { id: appId, privateKey }: { id: string; privateKey: string },
  options: Options,
  onToken: (token: string) => void,
): Door {
  const own = new Octokit({ ...options, authStrategy: createAppAuth, auth: { appId, privateKey } });
  const clients = new Map<number, Octokit>();
  const installations = new Map<string, number>();
  const getClient = (installationId: number): Octokit => {
    const known = clients.get(installationId);
    if (known) return known;
    const auth = { appId, privateKey, installationId };
    const made = new Octokit({ ...options, authStrategy: createAppAuth, auth });
    const renew = async (refresh: boolean) => {
      onToken(tokenIn(await made.auth({ type: "installation", refresh })));
    };
    // A token can be revoked before it expires, so one more attempt is made with a new token.
    made.hook.wrap("request", async (request, given) => {
      // The request for a token also passes through this hook.
      if (given.url.endsWith("/access_tokens")) return request(given);
      await renew(false);
      try {
        return await request({ ...given });
      } catch (error) {
        if (membersOf(error)["status"] !== 401) throw error;
        await renew(true);
        return request({ ...given });
      }
    });
    clients.set(installationId, made);
    return made;
  };
  const installationOf = async (repository: string): Promise<number> => {
    const known = installations.get(repository);
    if (known !== undefined) return known;
    const { data } = await own.request("GET /repos/{owner}/{repo}/installation", splitName(repository));
    installations.set(repository, data.id);
    return data.id;
  };
  /**
   * An App that was removed and installed again has another installation id. If the known id fails, it is looked up
   * once more.
   */
  async function runWithClient<T>(repository: string, work: (octokit: Octokit) => Promise<T>): Promise<T> {
    const id = await installationOf(repository);
    try {
      return await work(getClient(id));
    } catch (error) {
      if (!isInstallationGone(error)) throw error;
      clients.delete(id);
      installations.delete(repository);
      const now = await installationOf(repository);
      if (now === id) throw error;
      return work(getClient(now));
    }
  }
  return {
    own,
    getClient,
    runWithClient,
    gitToken: (repository, fresh) =>
      runWithClient(repository, async (client) => {
        // The token covers only this repository's contents.
        const answer = await client.auth({
          type: "installation",
          repositoryNames: [splitName(repository).repo],
          refresh: fresh,
          permissions: { contents: "write" },
        });
        const token = tokenIn(answer);
        onToken(token);
        return token;
      }),
  };
}

/** GitHub answers the request for a token with 404 when the installation was removed. */
function isInstallationGone(error: unknown): boolean {
  const { status, request } = membersOf(error);
  return status === 404 && /\/app\/installations\/\d+\/access_tokens$/.test(textIn(request, "url") ?? "");
}

async function selfOf(octokit: Octokit, isApp: boolean) {
  if (!isApp) {
    const { data } = await octokit.request("GET /user");
    return { login: data.login, name: data.login, permissions: {} };
  }
  const { data } = await octokit.request("GET /app");
  if (!data) throw new Problem(502, "codehost_failed", "The code host does not know the App.");
  const permissions = Object.fromEntries(
    Object.entries(data.permissions).map(([name, level]) => [name, String(level)]),
  );
  return { login: `${data.slug}[bot]`, name: data.name, permissions };
}

async function listRepositories(door: Door, isApp: boolean, limit: number, after: string | null) {
  const per_page = Math.min(limit, PAGE);
  const [from, at = "1"] = after?.split(":") ?? [];
  const page = Number(at);
  if (!isApp) {
    const { data } = await door.own.request("GET /user/repos", { per_page, page });
    return { items: data.map(presentRepository), next: data.length === per_page ? `0:${page + 1}` : null };
  }
  const { data: all } = await door.own.request("GET /app/installations", { per_page: PAGE });
  const ids = all.filter(({ suspended_at }) => !suspended_at).map(({ id }) => id);
  const index = from === undefined ? 0 : ids.indexOf(Number(from));
  const id = ids[index];
  if (id === undefined) return { items: [], next: null };
  const { data } = await door.getClient(id).request("GET /installation/repositories", { per_page, page });
  const following = ids[index + 1];
  const more = page * per_page < data.total_count;
  const next = more ? `${id}:${page + 1}` : following === undefined ? null : `${following}:1`;
  return { items: data.repositories.map(presentRepository), next };
}

interface GivenRepository {
  full_name: string;
  private: boolean;
  archived?: boolean | undefined;
  default_branch?: string | undefined;
  description?: string | null | undefined;
  html_url: string;
  clone_url?: string | undefined;
}
const presentRepository = (one: GivenRepository): HostRepository => ({
  full_name: one.full_name,
  private: one.private,
  archived: one.archived ?? false,
  default_branch: one.default_branch ?? "main",
  description: one.description ?? "",
  url: one.html_url,
  clone_url: one.clone_url ?? `${one.html_url}.git`,
});

const presentComment = (one: {
  id: number | bigint;
  user: { login: string } | null;
  body?: string | undefined;
  html_url: string;
  created_at: string;
}) => ({
  id: String(one.id),
  author: one.user?.login ?? "",
  body: one.body ?? "",
  url: one.html_url,
  created_at: one.created_at,
});
