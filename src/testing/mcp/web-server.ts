/** A tool server over HTTP in the test's process, in either revision, optionally with an authorization server. */
import { createHash, randomBytes } from "node:crypto";
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";

export interface WebServer {
  url: string;
  origin: string;
  /** The requests it received: method, path, and whether they had a token. */
  asked: string[];
  /** The scopes that log-ins requested. */
  scopes: (string | null)[];
  /** Invalidates all access tokens; refresh tokens stay valid. */
  expire(): void;
  stop(): Promise<void>;
}

export interface WebServerOptions {
  oauth?: boolean;
  /** Whether it supports only the older revision. */
  legacyOnly?: boolean;
  /** The only client that the authorization server knows; it then registers no others. */
  client?: { id: string; secret: string };
  /** The scope that listing tools needs. Calling a tool also needs `write`. */
  scope?: string;
  /** Members of the authorization server's metadata, as a hostile one would set them. */
  metadata?: (origin: string) => Record<string, unknown>;
  /** The authorization server that the tool server names. */
  authorizationServer?: string;
  /** Answers instead of the tool server. */
  answer?(request: Request): Response | undefined | Promise<Response | undefined>;
  /** The `iss` in the authorization server's answer. */
  iss?: string;
}

function build(): McpServer {
  const server = new McpServer({ name: "web", version: "1" });
  const schema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;
  server.registerTool(
    "say",
    { description: "Says it back.", inputSchema: fromJsonSchema<{ text: string }>(schema) },
    ({ text }) => ({
      content: [{ type: "text", text }],
    }),
  );
  return server;
}

export function startWebServer(options: WebServerOptions = {}): WebServer {
  const handler = createMcpHandler(build);
  const asked: string[] = [];
  const codes = new Map<string, { challenge: string; redirect: string; scope: string }>();
  const scopes: (string | null)[] = [];
  /** Scopes by access token. */
  let access = new Map<string, string>();
  const refresh = new Set<string>();
  const fresh = () => randomBytes(16).toString("hex");
  const grant = (scope = "") => {
    const tokens = { access_token: fresh(), refresh_token: fresh(), ...(scope ? { scope } : {}) };
    access.set(tokens.access_token, scope);
    refresh.add(tokens.refresh_token);
    return Response.json({ ...tokens, token_type: "Bearer", expires_in: 3_600 });
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const url = new URL(request.url);
      const { origin, pathname } = url;
      const token = request.headers.get("authorization")?.replace(/^Bearer /, "");
      asked.push(`${request.method} ${pathname}${token ? " with a token" : ""}`);
      const own = await options.answer?.(request);
      if (own) return own;
      if (options.oauth && pathname.startsWith("/.well-known/oauth-protected-resource"))
        return Response.json({
          resource: `${origin}/mcp`,
          authorization_servers: [options.authorizationServer ?? origin],
        });
      if (options.oauth && pathname.startsWith("/.well-known/oauth-authorization-server"))
        return Response.json({
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          ...(options.client ? {} : { registration_endpoint: `${origin}/register` }),
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: [options.client ? "client_secret_basic" : "none"],
          grant_types_supported: ["authorization_code", "refresh_token"],
          authorization_response_iss_parameter_supported: true,
          ...options.metadata?.(origin),
        });
      if (pathname === "/register")
        return Response.json({ ...((await request.json()) as object), client_id: fresh() }, { status: 201 });
      if (pathname === "/authorize") {
        const code = fresh();
        const redirect = url.searchParams.get("redirect_uri")!;
        const scope = url.searchParams.get("scope");
        scopes.push(scope);
        if (options.client && url.searchParams.get("client_id") !== options.client.id)
          return new Response("no such client", { status: 400 });
        codes.set(code, { challenge: url.searchParams.get("code_challenge")!, redirect, scope: scope ?? "" });
        const back = new URL(redirect);
        back.searchParams.set("code", code);
        back.searchParams.set("state", url.searchParams.get("state") ?? "");
        back.searchParams.set("iss", options.iss ?? origin);
        return new Response(null, { status: 302, headers: { Location: back.href } });
      }
      if (pathname === "/token") {
        const form = new URLSearchParams(await request.text());
        const { id, secret } = options.client ?? {};
        if (id && request.headers.get("authorization") !== `Basic ${btoa(`${id}:${secret}`)}`)
          return Response.json({ error: "invalid_client" }, { status: 401 });
        if (form.get("grant_type") === "refresh_token" && refresh.delete(form.get("refresh_token") ?? ""))
          return grant();
        const code = codes.get(form.get("code") ?? "");
        const challenge = createHash("sha256")
          .update(form.get("code_verifier") ?? "")
          .digest("base64url");
        if (code?.challenge === challenge && code.redirect === form.get("redirect_uri")) return grant(code.scope);
        return Response.json({ error: "invalid_grant" }, { status: 400 });
      }
      if (pathname !== "/mcp") return new Response("nothing here", { status: 404 });
      const where = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
      if (options.oauth && !access.has(token ?? "")) {
        const wanted = options.scope ? `, scope="${options.scope}"` : "";
        return new Response("log in", { status: 401, headers: { "WWW-Authenticate": `${where}${wanted}` } });
      }
      if (options.scope && (await request.clone().text()).includes('"tools/call"')) {
        const lacks = !access
          .get(token ?? "")
          ?.split(" ")
          .includes("write");
        const header = `${where}, error="insufficient_scope", scope="write"`;
        if (lacks) return new Response("no", { status: 403, headers: { "WWW-Authenticate": header } });
      }
      const asks = options.legacyOnly
        ? ((await request
            .clone()
            .json()
            .catch(() => ({}))) as { id?: number; method?: string })
        : {};
      if (asks.method === "server/discover")
        return Response.json({ jsonrpc: "2.0", id: asks.id, error: { code: -32_601, message: "no such method" } });
      return handler.fetch(request);
    },
  });
  const origin = `http://127.0.0.1:${server.port}`;
  return {
    origin,
    url: `${origin}/mcp`,
    asked,
    scopes,
    expire() {
      access = new Map();
    },
    async stop() {
      await handler.close();
      await server.stop(true);
    },
  };
}
