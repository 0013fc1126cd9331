/** Objects that people edit, with the ETag that reveals a change by somebody else. */
import { useQuery } from "@tanstack/react-query";
import type { Problem } from "./client.ts";

interface Answer<T> {
  data?: T | undefined;
  error?: unknown;
  response: Response;
}

export interface Tagged<T> {
  value: T;
  etag: string;
}

/** @param path the path as in the API, with its parameters. Events and `refresh` use it as the key. */
export function useTagged<T>(path: string, params: unknown, call: () => Promise<Answer<T>>) {
  return useQuery({
    queryKey: ["get", path, { params, tagged: true }],
    // Do not replace what a person is editing.
    refetchOnWindowFocus: false,
    async queryFn(): Promise<Tagged<T>> {
      const { data, error, response } = await call();
      if (error || data === undefined) throw error;
      return { value: data, etag: response.headers.get("etag") ?? "" };
    },
  });
}

/** Headers of a change that fails if somebody else changed the object. */
export const ifMatch = (etag: string | undefined) => ({ headers: etag ? { "If-Match": etag } : {} });

/** A version of one part of an object that has one ETag. It stays the same when only other parts change. */
export const versionOf = (part: unknown): string => JSON.stringify(part);

/** The server's answer to a change that came too late. */
const tooLate = (): Problem => ({
  type: "about:blank",
  title: "Precondition failed",
  status: 412,
  code: "precondition_failed",
  detail: "Somebody else changed this since you opened it.",
  instance: "",
  request_id: "",
});

/** How often the object is read again when somebody changed another part of it meanwhile. */
const TRIES = 3;

/**
 * Changes one part of an object that has one ETag, unless somebody else has changed that part meanwhile.
 * @param version the part's version when the person began to edit.
 * @throws Problem 412.
 */
export async function changePart<T>(
  read: () => Promise<Answer<T>>,
  partOf: (value: T) => unknown,
  version: string | undefined,
  send: (etag: string | undefined) => Promise<Answer<unknown>>,
): Promise<Answer<unknown>> {
  for (let left = TRIES; ; left--) {
    const { data, error, response } = await read();
    if (data === undefined) throw error;
    if (version !== undefined && versionOf(partOf(data)) !== version) throw tooLate();
    const answer = await send(response.headers.get("etag") ?? undefined);
    if (answer.response.status !== 412 || left <= 1) return answer;
  }
}
