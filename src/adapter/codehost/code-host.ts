/**
 * A service that hosts repositories, issues and pull requests (GitHub, Gitea or Forgejo), limited to what Skep uses.
 */

export type CodeHostKind = "github" | "gitea";

/** The address of a host and the credential for it. */
export interface CodeHostAccess {
  kind: CodeHostKind;
  /**
   * Address of the API for GitHub (`https://api.github.com`), of the site for Gitea and Forgejo. No slash at the end.
   */
  url: string;
  /** A GitHub App, which signs with its private key (PEM) and gets short-lived tokens. */
  app?: { id: string; privateKey: string } | undefined;
  /** An access token, when there is no App. */
  token?: string | undefined;
}

export interface HostAccount {
  login: string;
  /** The App's display name; the login when there is no App. */
  name: string;
  /** The account's permissions, e.g. `{ issues: "write" }`; empty where the host does not tell. */
  permissions: Record<string, string>;
}

export interface HostRepository {
  /** `owner/name` */
  full_name: string;
  private: boolean;
  archived: boolean;
  default_branch: string;
  description: string;
  /** Page for people. */
  url: string;
  /** The address that git clones. */
  clone_url: string;
}

/** What a user may do in a repository, ascending. */
type Permission = "none" | "read" | "write" | "admin";

export interface HostIssue {
  number: number;
  title: string;
  body: string;
  author: string;
  open: boolean;
  labels: string[];
  isPull: boolean;
  url: string;
}

interface HostPull extends Omit<HostIssue, "isPull"> {
  merged: boolean;
  mergeCommit: string | null;
  head: { branch: string; commit: string };
  base: string;
  /** The pull request's branch is in another repository, whose owner controls its content. */
  fork: boolean;
}

interface HostComment {
  id: string;
  author: string;
  body: string;
  url: string;
  created_at: string;
}

/** A comment on a pull request: in its thread, a review's summary (`path` is null), or at a line. */
interface HostReviewComment extends HostComment {
  path: string | null;
  line: number | null;
}

interface OpenPull {
  title: string;
  body: string;
  head: string;
  base: string;
}

/**
 * Every call fails with a Problem: 404 `codehost_not_found`, 403 `codehost_forbidden`, 422 `codehost_refused`. Failures
 * that may pass later are 502 `codehost_unauthorized`, `codehost_failed`, `codehost_unreachable`, and 503
 * `codehost_busy`.
 */
export interface CodeHost {
  self(): Promise<HostAccount>;
  /** @param after the `next` of the last page. */
  repositories(limit: number, after: string | null): Promise<{ items: HostRepository[]; next: string | null }>;
  repository(name: string): Promise<HostRepository>;
  /**
   * Makes the Authorization header for git. @param fresh whether to get a new token, because the last one was refused.
   */
  gitAuthorization(name: string, fresh: boolean): Promise<string>;
  /** What this user may do in the repository. */
  permission(repository: string, login: string): Promise<Permission>;
  /** Whether this account is a bot. The request uses the credential for the repository. */
  isBot(repository: string, login: string): Promise<boolean>;
  issue(repository: string, number: number): Promise<HostIssue>;
  comment(repository: string, id: string): Promise<HostComment>;
  /** The first few hundred comments of an issue or pull request, oldest first. */
  comments(repository: string, number: number): Promise<HostComment[]>;
  say(repository: string, number: number, body: string): Promise<string>;
  edit(repository: string, commentId: string, body: string): Promise<void>;
  pull(repository: string, number: number): Promise<HostPull>;
  /** The unified diff, cut after `maxBytes`. */
  pullDiff(repository: string, number: number, maxBytes: number): Promise<string>;
  /** The summaries of reviews and the comments at lines, each kind oldest first. */
  reviewComments(repository: string, number: number): Promise<HostReviewComment[]>;
  /** Opens a pull request, or finds the open one of this branch. */
  openPull(repository: string, pull: OpenPull): Promise<{ number: number; url: string }>;
}

/** Scheme, host and port under which git reaches the host's repositories. */
export function gitOrigin({ kind, url }: Pick<CodeHostAccess, "kind" | "url">): string {
  const { origin } = new URL(url);
  return kind === "github" && origin === "https://api.github.com" ? "https://github.com" : origin;
}

/** Extracts `owner/name` from an address of that host; undefined for any other address. */
export function repositoryName(access: Pick<CodeHostAccess, "kind" | "url">, address: string): string | undefined {
  const origin = new URL(gitOrigin(access));
  const scp = /^(?:ssh:\/\/)?[\w.-]+@([^:/]+)(?::\d+)?[:/](.+)$/.exec(address);
  const url = scp ? undefined : URL.parse(address);
  const host = scp ? scp[1] : url?.host;
  if (host !== (scp ? origin.hostname : origin.host)) return undefined;
  const base = kindPath(access);
  const path = (scp ? `/${scp[2]}` : (url?.pathname ?? "")).replace(base, "/");
  return /^\/+([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(path)?.[1];
}

/** A Gitea may be installed below a path of its site. */
const kindPath = ({ kind, url }: Pick<CodeHostAccess, "kind" | "url">): string =>
  kind === "gitea" ? `${new URL(url).pathname.replace(/\/$/, "")}/` : "/";

export function splitName(repository: string): { owner: string; repo: string } {
  const [owner = "", repo = ""] = repository.split("/");
  return { owner, repo };
}
