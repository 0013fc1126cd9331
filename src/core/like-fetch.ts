export type Fetching = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * Gives a function the type of the runtime's `fetch`, for libraries that require it. They never call `preconnect`,
 * which is the runtime's own.
 */
export const likeFetch = (ask: Fetching): typeof fetch =>
  Object.assign((...[input, init]: Parameters<Fetching>) => ask(input, init), { preconnect: fetch.preconnect });
