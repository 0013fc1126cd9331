/** Imitates a browser for walking through log-in pages: cookies by host and path, redirects, forms. */
interface Visited {
  status: number;
  url: string;
  headers: Headers;
  text: string;
}

interface WebClient {
  /** Follows at most 15 redirects. @param stopAt does not follow to an address that begins with this. */
  visit(url: string, init?: RequestInit, stopAt?: string): Promise<Visited>;
  /** Submits the first form of a page. */
  submit(page: Visited, fields: Record<string, string>, stopAt?: string): Promise<Visited>;
  /** The cookies for an address, as `name=value` pairs. */
  cookiesFor(url: string): string;
}

interface Cookie {
  name: string;
  value: string;
  origin: string;
  path: string;
}

export function createWebClient(): WebClient {
  let cookies: Cookie[] = [];
  const cookiesFor = (url: string) => {
    const { origin, pathname } = new URL(url);
    const mine = cookies.filter((cookie) => cookie.origin === origin && pathname.startsWith(cookie.path));
    return mine.map(({ name, value }) => `${name}=${value}`).join("; ");
  };
  function keep(url: string, headers: Headers): void {
    const { origin } = new URL(url);
    for (const line of headers.getSetCookie()) {
      const [pair = "", ...attributes] = line.split("; ");
      const at = pair.indexOf("=");
      const name = pair.slice(0, at);
      const value = pair.slice(at + 1);
      const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5) ?? "/";
      cookies = cookies.filter((cookie) => !(cookie.name === name && cookie.origin === origin && cookie.path === path));
      if (value !== "" && !attributes.includes("Max-Age=0")) cookies.push({ name, value, origin, path });
    }
  }
  async function visit(url: string, init: RequestInit = {}, stopAt?: string): Promise<Visited> {
    let at = url;
    let options = init;
    for (let hop = 0; hop < 15; hop++) {
      const headers = new Headers(options.headers);
      const cookie = cookiesFor(at);
      if (cookie) headers.set("Cookie", cookie);
      const answer = await fetch(at, { ...options, headers, redirect: "manual" });
      keep(at, answer.headers);
      const location = answer.headers.get("location");
      const text = await answer.text();
      if (answer.status < 300 || answer.status >= 400 || !location)
        return { status: answer.status, url: at, headers: answer.headers, text };
      at = new URL(location, at).href;
      if (stopAt !== undefined && at.startsWith(stopAt))
        return { status: answer.status, url: at, headers: answer.headers, text };
      options = options.headers ? { headers: options.headers } : {};
    }
    throw new Error(`too many redirects, last to ${at}`);
  }
  return {
    visit,
    cookiesFor,
    submit(page, fields, stopAt) {
      const [, action] = /<form[^>]*action="([^"]+)"/.exec(page.text) ?? [];
      if (!action) throw new Error(`no form on ${page.url}:\n${page.text}`);
      const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
      const body = new URLSearchParams([
        ...hidden.map(([, name, value]): [string, string] => [name!, value!]),
        ...Object.entries(fields),
      ]);
      return visit(new URL(action, page.url).href, { method: "POST", body }, stopAt);
    },
  };
}
