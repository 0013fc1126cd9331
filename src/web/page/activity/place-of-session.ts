/** The page on which a session is shown. */
interface Place {
  id: string;
  kind: string;
  run_id: string | null;
}

export const placeOfSession = ({ id, kind, run_id }: Place): string | undefined =>
  run_id ? `/runs/${run_id}` : kind === "chat" ? `/chat/${id}` : kind === "spawn" ? "/activity?tab=handed" : undefined;
