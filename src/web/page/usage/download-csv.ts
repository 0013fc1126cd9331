/** Downloads a list of the API as a file: the same address, requested as CSV. */
import { retryRead } from "../../api/again.ts";
import { siteUrl } from "../../api/client.ts";

export async function downloadCsv(path: string, name: string): Promise<void> {
  const answer = await retryRead(() =>
    fetch(siteUrl(path), { headers: { Accept: "text/csv" }, credentials: "same-origin" }),
  );
  if (!answer.ok) throw await answer.json();
  const address = URL.createObjectURL(await answer.blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
