/** Objects that people edit, with the ETag that reveals a change by somebody else. */
import { useQuery } from "@tanstack/react-query";

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
