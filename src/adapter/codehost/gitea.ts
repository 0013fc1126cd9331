/** A client for Gitea and for Forgejo, which has kept Gitea's API. It uses an access token. */
import { type Comment, giteaApi, type Issue, type PullRequest, type Repository } from "gitea-js";
import { likeFetch } from "../../core/like-fetch.ts";
import { type CodeHost, type CodeHostAccess, type HostRepository, splitName } from "./code-host.ts";
import { askHost, type HostFetch, pagesOf } from "./host-fetch.ts";

const PAGE = 50;
const pages = pagesOf({ size: PAGE, most: 10 });

export function createGitea(access: CodeHostAccess, fetch: HostFetch): CodeHost {
  const token = access.token ?? "";
  const { repos, user, users } = giteaApi(access.url, { token, customFetch: likeFetch(fetch) });
  const askAbout = <T>(repository: string, work: (owner: string, repo: string) => Promise<T>): Promise<T> => {
    const { owner, repo } = splitName(repository);
    return askHost(() => work(owner, repo));
  };
  return {
    self: () =>
      askHost(async () => {
        const { login = "", full_name } = (await user.userGetCurrent()).data;
        return { login, name: full_name || login, permissions: {} };
      }),
    repositories: (limit, after) =>
      askHost(async () => {
        const page = Number(after ?? 1);
        const size = Math.min(limit, PAGE);
        const { data } = await user.userCurrentListRepos({ page, limit: size });
        return { items: data.map(presentRepository), next: data.length === size ? String(page + 1) : null };
      }),
    repository: (name) =>
      askAbout(name, async (owner, repo) => presentRepository((await repos.repoGet(owner, repo)).data)),
    gitAuthorization: async () => `Basic ${Buffer.from(`oauth2:${token}`).toString("base64")}`,
    permission: (name, login) =>
      askAbout(name, async (owner, repo) => {
        const { permission } = (await repos.repoGetRepoPermissions(owner, repo, login)).data;
        if (permission === "owner") return "admin";
        return (["admin", "write", "read"] as const).find((one) => one === permission) ?? "none";
      }),
    // Gitea does not mark bots, so any existing account passes; the caller's rule names each bot.
    isBot: (_name, login) =>
      askHost(async () => (await users.userGet(login)).data.login?.toLowerCase() === login.toLowerCase()),
    issue: (name, number) =>
      askAbout(name, async (owner, repo) => {
        const { data } = await repos.issueGetIssue(owner, repo, number);
        const isPull = data.pull_request !== undefined && data.pull_request !== null;
        return { number, isPull, ...presentIssue(data) };
      }),
    comment: (name, id) =>
      askAbout(name, async (owner, repo) =>
        presentComment((await repos.issueGetComment(owner, repo, Number(id))).data),
      ),
    comments: (name, number) =>
      askAbout(name, async (owner, repo) =>
        (await repos.issueGetComments(owner, repo, number)).data.map(presentComment),
      ),
    say: (name, number, body) =>
      askAbout(name, async (owner, repo) =>
        String((await repos.issueCreateComment(owner, repo, number, { body })).data.id),
      ),
    edit: (name, id, body) =>
      askAbout(name, async (owner, repo) => void (await repos.issueEditComment(owner, repo, Number(id), { body }))),
    pull: (name, number) =>
      askAbout(name, async (owner, repo) => {
        const { data } = await repos.repoGetPullRequest(owner, repo, number);
        return {
          number,
          ...presentIssue(data),
          merged: data.merged === true,
          mergeCommit: data.merge_commit_sha ?? null,
          head: { branch: data.head?.ref ?? "", commit: data.head?.sha ?? "" },
          base: data.base?.ref ?? "",
          fork: data.head?.repo?.full_name !== data.base?.repo?.full_name,
        };
      }),
    pullDiff: (name, number, maxBytes) =>
      askAbout(name, async (owner, repo) => {
        const { data } = await repos.repoDownloadPullDiffOrPatch(owner, repo, number, "diff", {}, { format: "text" });
        return String(data).slice(0, maxBytes);
      }),
    reviewComments: (name, number) =>
      askAbout(name, async (owner, repo) => {
        const reviews = await pages(
          async (page) => (await repos.repoListPullReviews(owner, repo, number, { page, limit: PAGE })).data,
        );
        const comments = [];
        for (const review of reviews) {
          const { id = 0 } = review;
          const said = presentComment({ ...review, created_at: review.submitted_at ?? "" });
          if (said.body !== "") comments.push({ ...said, id: `review-${id}`, path: null, line: null });
          if (!review.comments_count) continue;
          for (const one of (await repos.repoGetPullReviewComments(owner, repo, number, id)).data)
            comments.push({
              ...presentComment(one),
              id: `line-${one.id}`,
              path: one.path ?? null,
              line: one.position || one.original_position || null,
            });
        }
        return comments;
      }),
    openPull: (name, { title, body, head, base }) =>
      askAbout(name, async (owner, repo) => {
        const open = await pages(
          async (page) => (await repos.repoListPullRequests(owner, repo, { state: "open", page, limit: PAGE })).data,
        );
        const own = ({ head: of }: PullRequest) => of?.ref === head && of.repo?.full_name === name;
        const found =
          open.find(own) ?? (await repos.repoCreatePullRequest(owner, repo, { title, body, head, base })).data;
        return { number: found.number ?? 0, url: found.html_url ?? "" };
      }),
  };
}

const presentRepository = (one: Repository): HostRepository => ({
  full_name: one.full_name ?? "",
  private: one.private ?? true,
  archived: one.archived ?? false,
  default_branch: one.default_branch ?? "main",
  description: one.description ?? "",
  url: one.html_url ?? "",
  clone_url: one.clone_url ?? "",
});

/** The fields that issues and pull requests share. */
const presentIssue = (one: Issue | PullRequest) => ({
  title: one.title ?? "",
  body: one.body ?? "",
  author: one.user?.login ?? "",
  open: one.state === "open",
  labels: (one.labels ?? []).map((label) => label.name ?? ""),
  url: one.html_url ?? "",
});

type Said = Pick<Comment, "id" | "user" | "body" | "html_url" | "created_at">;
const presentComment = ({ id, user, body = "", html_url: url = "", created_at = "" }: Said) => ({
  id: String(id),
  author: user?.login ?? "",
  body,
  url,
  created_at,
});
