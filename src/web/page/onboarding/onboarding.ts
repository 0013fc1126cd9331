/** What the onboarding pages show of an onboarding. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { client, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";

export type Onboarding = Schemas["OnboardingSession"];

export const PHASES = ["intake", "strategy", "product", "architecture"] as const;
export type Phase = (typeof PHASES)[number];

export const refreshOnboarding = () => refresh("/v1/onboarding", "/v1/projects");

/** The onboarding's state as a key of the status table. */
export function statusOf({ status, busy }: Pick<Onboarding, "status" | "busy">): string {
  if (status === "completed") return "done";
  if (status === "abandoned") return "cancelled";
  return busy ? "working" : "waiting";
}

const PAGE = 60;

export function useOnboarding(id: string) {
  const query = useInfiniteQuery({
    queryKey: ["get", "/v1/onboarding/sessions/{id}", { params: { path: { id } }, pages: true }],
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page: Onboarding) => (page.earlier ? page.messages[0]?.seq : undefined),
    queryFn: ({ pageParam: before, signal }) => {
      const query = { limit: PAGE, ...(before === undefined ? {} : { before }) };
      return must(client.GET("/v1/onboarding/sessions/{id}", { params: { path: { id }, query }, signal }));
    },
  });
  const pages = query.data?.pages ?? [];
  return { ...query, onboarding: pages[0], messages: pages.toReversed().flatMap(({ messages }) => messages) };
}
