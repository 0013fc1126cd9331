/**
 * A fake code host on loopback. It implements the part of GitHub's and Gitea's API that Skep uses. Issues, comments and
 * pull requests are in memory; repositories are real ones, served by git's own HTTP backend. It signs webhooks and
 * fails on request.
 */
import { createHmac, generateKeyPairSync } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HOUR_MS } from "../core/clock.ts";

interface FakeIssue {
  title: string;
  body: string;
  user: string;
  labels: string[];
  state: "open" | "closed";
}
interface FakePull extends FakeIssue {
  head: string;
  headRepository: string;
  base: string;
  merged: boolean;
  mergeCommit: string | null;
}
interface FakeComment {
  id: number;
  user: string;
  body: string;
}
interface FakeReviewComment extends FakeComment {
  path: string | null;
  line: number | null;
}

export const WEBHOOK_SECRET = "webhook-secret-9c1f0b";
export const APP_LOGIN = "skep-test[bot]";
/** Part of every installation token, so that a test can search for it everywhere. */
export const TOKEN_CANARY = "ghs_canary7f3a91";

export type CodeHostFake = Awaited<ReturnType<typeof startCodeHost>>;

export async function startCodeHost({ repository = "octo/shop", kind = "github" as "github" | "gitea" } = {}) {
  const root = mkdtempSync(join(tmpdir(), "skep-codehost-"));
  const bare = join(root, `${repository}.git`);
  const work = join(root, "work");
  const git = (...args: string[]): string => {
    const ran = Bun.spawnSync(["git", "-c", "user.name=U", "-c", "user.email=u@example.com", "-C", work, ...args]);
    if (ran.exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${ran.stderr.toString()}`);
    return ran.stdout.toString().trim();
  };
  mkdirSync(work);
  mkdirSync(bare, { recursive: true });
  Bun.spawnSync(["git", "init", "-q", "--bare", "-b", "main", bare]);
  Bun.spawnSync(["git", "-C", bare, "config", "http.receivepack", "true"]);
  git("init", "-q", "-b", "main");
  git("remote", "add", "origin", bare);
  const commit = (path: string, content: string): string => {
    writeFileSync(join(work, path), content);
    git("add", ".");
    git("commit", "-qm", `change ${path}`);
    git("push", "-q", "origin", "HEAD:main");
    return git("rev-parse", "HEAD");
  };
  commit("README.md", "hello\n");

  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const keyFile = join(root, "app.pem");
  writeFileSync(keyFile, privateKey.export({ type: "pkcs8", format: "pem" }));

  const issues = new Map<number, FakeIssue>();
  const pulls = new Map<number, FakePull>();
  const comments = new Map<number, FakeComment[]>();
  const reviewComments = new Map<number, FakeReviewComment[]>();
  const permissions = new Map<string, string>();
  const bots = new Set<string>([APP_LOGIN]);
  const tokens = new Set<string>(["pat-token-0451"]);
  const calls: { method: string; path: string; authorization: string | null }[] = [];
  const failures: number[] = [];
  let made = 0;
  let lastNumber = 0;
  let nextComment = 100;
  const waiting = new Set<() => void>();
  const notify = () => {
    for (const look of [...waiting]) look();
  };

  const isAllowed = (authorization: string | null): boolean => {
    if (authorization === null) return false;
    const [scheme = "", value = ""] = authorization.split(" ");
    if (scheme.toLowerCase() === "basic") return tokens.has(atob(value).split(":")[1] ?? "");
    // A JWT of the App.
    return value.split(".").length === 3 || tokens.has(value);
  };
  const userOf = (login: string) => ({ login, type: bots.has(login) ? "Bot" : "User" });
  const page = (number: number, what: string) => `http://127.0.0.1:${server.port}/${repository}/${what}/${number}`;
  const issueOf = (number: number) => {
    const one = issues.get(number) ?? pulls.get(number);
    return (
      one && {
        number,
        title: one.title,
        body: one.body,
        user: userOf(one.user),
        state: one.state,
        labels: one.labels.map((name) => ({ name })),
        html_url: page(number, "issues"),
        ...(pulls.has(number) ? { pull_request: { url: "" } } : {}),
      }
    );
  };
  const pullOf = (number: number) => {
    const one = pulls.get(number);
    const sha = one && Bun.spawnSync(["git", "-C", bare, "rev-parse", one.head]).stdout.toString().trim();
    return (
      one && {
        ...issueOf(number),
        merged: one.merged,
        merge_commit_sha: one.mergeCommit,
        html_url: page(number, "pull"),
        head: { ref: one.head, sha, repo: { full_name: one.headRepository } },
        base: { ref: one.base, repo: { full_name: repository } },
      }
    );
  };
  const commentOf = (one: FakeComment) => ({
    id: one.id,
    body: one.body,
    user: userOf(one.user),
    created_at: new Date().toISOString(),
    html_url: page(one.id, "comments"),
  });
  const repositoryOf = () => ({
    full_name: repository,
    private: true,
    archived: false,
    default_branch: "main",
    description: "A shop",
    html_url: `http://127.0.0.1:${server.port}/${repository}`,
    clone_url: `http://127.0.0.1:${server.port}/${repository}.git`,
  });
  const say = (number: number, user: string, body: string): FakeComment => {
    const one = { id: nextComment++, user, body };
    comments.set(number, [...(comments.get(number) ?? []), one]);
    notify();
    return one;
  };

  /** Id of the App's installation for the repository's owner. */
  let installed = 7;
  type Body = Record<string, string> & { permissions?: unknown };
  /** The part of the API below the repository. */
  function inRepository(method: string, path: string, body: Body, query: URLSearchParams): unknown {
    const [, what = "", id = "", more = "", last = ""] = path.split("/");
    const number = Number(id);
    if (path === "" && method === "GET") return repositoryOf();
    if (what === "installation") return { id: installed };
    if (what === "collaborators" && more === "permission")
      return { permission: permissions.get(decodeURIComponent(id)) ?? (kind === "gitea" ? "none" : "read") };
    if (what === "issues" && id === "comments") {
      const found = [...comments.values()].flat().find((one) => one.id === Number(more));
      if (found && method === "PATCH") {
        found.body = body["body"] ?? "";
        notify();
      }
      return found && commentOf(found);
    }
    if (what === "issues" && more === "comments") {
      if (method === "POST") return commentOf(say(number, APP_LOGIN, body["body"] ?? ""));
      return Number(query.get("page") ?? 1) > 1 ? [] : (comments.get(number) ?? []).map(commentOf);
    }
    if (what === "issues") return issueOf(number);
    if (what === "pulls" && id === "") {
      if (method === "POST") return pullOf(openPull(body["head"]!, body["base"]!, body["title"]!, body["body"] ?? ""));
      const head = query.get("head")?.split(":")[1];
      const open = [...pulls].filter(([, one]) => one.state === "open" && (!head || one.head === head));
      return Number(query.get("page") ?? 1) > 1 ? [] : open.map(([at]) => pullOf(at));
    }
    if (what === "pulls" && (more === "reviews" || more === "comments")) {
      const wanted = (reviewComments.get(number) ?? []).filter(
        ({ path: at }) => (more === "reviews") === (at === null),
      );
      if (kind === "gitea" && last !== "")
        return (reviewComments.get(number) ?? [])
          .filter((one) => one.path !== null)
          .map((one) => ({ ...commentOf(one), ...one, user: userOf(one.user), position: one.line }));
      if (Number(query.get("page") ?? 1) > 1) return [];
      const shown = wanted.map((one) => ({
        ...commentOf(one),
        path: one.path,
        line: one.line,
        submitted_at: new Date().toISOString(),
      }));
      return kind === "gitea" ? shown.map((one) => ({ ...one, comments_count: 1 })) : shown;
    }
    if (what === "pulls") return pullOf(number);
    return undefined;
  }
  function openPull(
    head: string,
    base: string,
    title: string,
    body: string,
    user = APP_LOGIN,
    from = repository,
  ): number {
    const number = ++lastNumber;
    pulls.set(number, {
      title,
      body,
      user,
      labels: [],
      state: "open",
      head,
      headRepository: from,
      base,
      merged: false,
      mergeCommit: null,
    });
    notify();
    return number;
  }
  const newToken = (): string => {
    const token = `${TOKEN_CANARY}${++made}`;
    tokens.add(token);
    return token;
  };
  function api(method: string, path: string, body: Body, query: URLSearchParams): unknown {
    if (path === "/app")
      return { slug: "skep-test", name: "Skep Test", permissions: { contents: "write", issues: "write" } };
    if (path === "/app/installations") return [{ id: installed, suspended_at: null }];
    if (path === `/app/installations/${installed}/access_tokens`)
      return {
        token: newToken(),
        expires_at: new Date(Date.now() + HOUR_MS).toISOString(),
        permissions: {},
        repository_selection: "all",
      };
    if (path === "/installation/repositories") return { total_count: 1, repositories: [repositoryOf()] };
    if (path === "/user") return userOf(APP_LOGIN);
    if (path === "/user/repos") return Number(query.get("page") ?? 1) > 1 ? [] : [repositoryOf()];
    if (path.startsWith("/users/")) return userOf(decodeURIComponent(path.slice("/users/".length)));
    // Repository names are case-insensitive.
    if (path.toLowerCase().startsWith(`/repos/${repository}`))
      return inRepository(method, path.slice(`/repos/${repository}`.length), body, query);
    return undefined;
  }

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const url = new URL(request.url);
      const authorization = request.headers.get("authorization");
      calls.push({ method: request.method, path: url.pathname, authorization });
      notify();
      const failure = failures.shift();
      if (failure !== undefined) return Response.json({ message: "asked to fail" }, { status: failure });
      if (!isAllowed(authorization))
        return new Response("{}", { status: 401, headers: { "WWW-Authenticate": 'Basic realm="fake"' } });
      if (url.pathname.startsWith(`/${repository}.git/`)) return gitBackend(root, request, url).finally(notify);
      const path = url.pathname.replace(/^\/api\/v1/, "");
      if (
        /^\/repos\/.*\/pulls\/\d+(\.diff)?$/.test(path) &&
        (path.endsWith(".diff") || request.headers.get("accept")?.includes("diff"))
      ) {
        const one = pulls.get(Number(/(\d+)(\.diff)?$/.exec(path)![1]));
        const ran = Bun.spawnSync(["git", "-C", bare, "diff", `${one!.base}...${one!.head}`]);
        return new Response(ran.stdout.toString(), { headers: { "Content-Type": "text/plain" } });
      }
      const text = await request.text();
      const answer = api(request.method, path, text ? JSON.parse(text) : {}, url.searchParams);
      if (answer === undefined) return Response.json({ message: "Not Found" }, { status: 404 });
      return Response.json(answer, { status: request.method === "POST" ? 201 : 200 });
    },
  });

  const origin = `http://127.0.0.1:${server.port}`;
  return {
    origin,
    repository,
    bare,
    git,
    commit,
    calls,
    failures,
    issues,
    pulls,
    comments,
    reviewComments,
    permissions,
    bots,
    tokens,
    say,
    openPull,
    clone: `${origin}/${repository}.git`,
    keyFile,
    /** Removes the App and installs it again: it gets another id, and earlier tokens become invalid. */
    reinstall() {
      installed++;
      tokens.clear();
    },
    newNumber: () => ++lastNumber,
    nextId: () => nextComment++,
    /** The environment for a server that is connected to this host, as an App or with a token. */
    env(as: "app" | "token" = kind === "gitea" ? "token" : "app"): Record<string, string> {
      return {
        CODEHOST_TYPE: kind,
        CODEHOST_URL: origin,
        CODEHOST_WEBHOOK_SECRET: WEBHOOK_SECRET,
        FETCH_ALLOW: "127.0.0.1",
        ...(as === "app"
          ? { CODEHOST_APP_ID: "4711", CODEHOST_APP_KEY: keyFile }
          : { CODEHOST_TOKEN: "pat-token-0451" }),
      };
    },
    /** Resolves with what `look` finds. It is called again after each change. */
    until<T>(look: () => T | undefined | false | null): Promise<T> {
      return new Promise((done) => {
        const check = () => {
          const found = look();
          if (!found) return;
          waiting.delete(check);
          done(found);
        };
        waiting.add(check);
        check();
      });
    },
    /** Merges a pull request into its base branch, as its page does. */
    merge(number: number): void {
      const one = pulls.get(number)!;
      git("fetch", "-q", "origin");
      git("checkout", "-q", one.base);
      git("merge", "-q", "--no-ff", "-m", `Merge #${number}`, `origin/${one.head}`);
      git("push", "-q", "origin", one.base);
      Object.assign(one, { merged: true, state: "closed", mergeCommit: git("rev-parse", "HEAD") });
    },
    async stop() {
      await server.stop(true);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** The headers of a webhook with this body. */
export function signWebhook(
  kind: "github" | "gitea",
  event: string,
  body: string,
  id: string = crypto.randomUUID(),
): Record<string, string> {
  const signature = createHmac("sha256", WEBHOOK_SECRET).update(body).digest("hex");
  if (kind === "github")
    return {
      "Content-Type": "application/json",
      "X-GitHub-Event": event,
      "X-GitHub-Delivery": id,
      "X-Hub-Signature-256": `sha256=${signature}`,
    };
  return {
    "Content-Type": "application/json",
    "X-Gitea-Event": event,
    "X-Gitea-Delivery": id,
    "X-Gitea-Signature": signature,
  };
}

/** Runs git's own server as a CGI program. */
export async function gitBackend(root: string, request: Request, url: URL): Promise<Response> {
  const child = Bun.spawn(["git", "http-backend"], {
    env: {
      PATH: process.env["PATH"] ?? "",
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      REMOTE_USER: "fake",
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers.get("content-type") ?? "",
      HTTP_CONTENT_ENCODING: request.headers.get("content-encoding") ?? "",
      GIT_PROTOCOL: request.headers.get("git-protocol") ?? "",
    },
    stdin: new Uint8Array(await request.arrayBuffer()),
    stdout: "pipe",
    stderr: "ignore",
  });
  const bytes = Buffer.from(await new Response(child.stdout).arrayBuffer());
  const end = bytes.indexOf("\r\n\r\n");
  const lines = bytes.subarray(0, end).toString().split("\r\n");
  const pairs = lines.map((line) => line.split(": ") as [string, string]);
  const code = Number(pairs.find(([name]) => name === "Status")?.[1]?.slice(0, 3) ?? 200);
  return new Response(bytes.subarray(end + 4), {
    status: code,
    headers: Object.fromEntries(pairs.filter(([name]) => name !== "Status")),
  });
}
