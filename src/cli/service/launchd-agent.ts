/** The launchd agent of a server on macOS. launchd starts it when its user logs in, and again when it fails. */

export const LAUNCHD_LABEL = "dev.skep.server";

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

export function launchdAgent(options: { executable: string; data: string; log: string }): string {
  const { executable, data, log } = options;
  const toStringElement = (value: string) => `<string>${escapeXml(value)}</string>`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>${toStringElement(LAUNCHD_LABEL)}
  <key>ProgramArguments</key>
  <array>${toStringElement(executable)}${toStringElement("serve")}</array>
  <key>EnvironmentVariables</key>
  <dict><key>DATA</key>${toStringElement(data)}</dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ProcessType</key><string>Background</string>
  <key>Umask</key><integer>63</integer>
  <key>StandardOutPath</key>${toStringElement(log)}
  <key>StandardErrorPath</key>${toStringElement(log)}
</dict>
</plist>
`;
}
