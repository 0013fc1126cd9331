/** Objects that people edit, with the tag by which a later change of somebody else shows. */
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

/** @param path as in the API, with what else the answer depends on: what events and `refresh` know it by. */
export function useTagged<T>(path: string, params: unknown, call: () => Promise<Answer<T>>) {
  return useQuery({
    queryKey: ["get", path, { params, tagged: true }],
    // What a person is editing is not replaced under their hands.
    refetchOnWindowFocus: false,
    async queryFn(): Promise<Tagged<T>> {
      const { data, error, response } = await call();
      if (error || data === undefined) throw error;
      return { value: data, etag: response.headers.get("etag") ?? "" };
    },
  });
}

/** Headers of a change that holds only while nothing else changed. */
export const ifMatch = (etag: string | undefined) => ({ headers: etag ? { "If-Match": etag } : {} });
