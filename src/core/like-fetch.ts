export type Fetching = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** As the runtime types `fetch`, for libraries that take one: what they never call is the runtime's own. */
export const likeFetch = (ask: Fetching): typeof fetch =>
  Object.assign((...[input, init]: Parameters<Fetching>) => ask(input, init), { preconnect: fetch.preconnect });
