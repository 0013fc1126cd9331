/** Tells administrators that the scheduled backup failed or is overdue; otherwise it shows nothing. */
import { api } from "../../api/client.ts";
import { useAdmin } from "../../session/session.tsx";
import { BackupTrouble } from "../../ui/backup-trouble.tsx";
import { TextLink } from "../../ui/link.tsx";

export function BackupNotice() {
  const { data } = api.useQuery("get", "/v1/admin/backup-schedule", {}, { enabled: useAdmin() });
  if (!data) return null;
  return (
    <BackupTrouble error={data.error} overdue={data.overdue}>
      <TextLink href="/system?tab=backups">Backups</TextLink>
    </BackupTrouble>
  );
}
