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

/** @param path as in the API, with its parameters: the key that events and `refresh` use. */
export function useTagged<T>(path: string, params: unknown, call: () => Promise<Answer<T>>) {
  return useQuery({
    queryKey: ["get", path, { params, tagged: true }],
    // What a person is editing is not replaced by a refetch.
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

/** A version of a part of what has one tag: a change of another part leaves it as it is. */
export const versionOf = (part: unknown): string => JSON.stringify(part);

/** What the server answers a change that came too late. */
const tooLate = (): Problem => ({
  type: "about:blank",
  title: "Precondition failed",
  status: 412,
  code: "precondition_failed",
  detail: "Somebody else changed this since you opened it.",
  instance: "",
  request_id: "",
});

/** Others change other parts of it meanwhile: so often it is read anew. */
const TRIES = 3;

/**
 * Changes a part of what has one tag, unless somebody else changed that part since.
 * @param version of the part when the person began.
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
