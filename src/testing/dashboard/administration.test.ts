/**
 * In a browser: a backup is made, stopped, downloaded and deleted; a sign-on provider is tried before it is saved; many
 * items at once.
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { waitFor } from "../attacks/waiting.ts";
import { hasBrowser } from "../browser.ts";
import { CLIENT, startIdentityProvider } from "../identity-provider.ts";
import { typeInto } from "./keyboard.ts";
import { visit } from "./visitor.ts";
import { withDashboard } from "./with-dashboard.ts";

setDefaultTimeout(300_000);

describe.skipIf(!hasBrowser())("administration", () => {
  const dashboard = withDashboard();

  test("a backup is made by a button, stopped, made again, downloaded and deleted", async () => {
    const { server, browser } = dashboard();
    const { page, open, close, faults } = await visit(browser, server.url, { acceptDownloads: true });
    await open("/system?tab=backups");
    const large = join(server.data, "uploads", "large");
    writeFileSync(large, "");
    truncateSync(large, 8 * 1024 ** 3);
    await page.getByRole("button", { name: "Make a backup" }).click();
    await page.getByText(/files, \d+ of \d+ MiB/).waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByRole("progressbar").waitFor({ state: "detached" });
    rmSync(large);
    await page.getByText("There is no backup yet.").waitFor();
    await page.getByRole("button", { name: "Make a backup" }).click();
    const link = page.getByRole("link", { name: /^Download skep-/ });
    await link.waitFor();
    const [file] = await Promise.all([page.waitForEvent("download"), link.click()]);
    expect(file.suggestedFilename()).toMatch(/^skep-\d{8}-\d{6}\.tar\.gz$/);
    expect(statSync(await file.path()).size).toBeGreaterThan(1_000);
    await page.getByRole("button", { name: /^Delete skep-/ }).click();
    await page.getByRole("button", { name: "Delete the backup" }).click();
    await page.getByText("There is no backup yet.").waitFor();
    await close();
    expect(faults).toEqual([]);
  });

  test("a sign-on provider is tried with a wrong secret and with the right one before it is kept", async () => {
    const { server, browser, ids } = dashboard();
    const provider = await startIdentityProvider([`${server.url}/v1/auth/oidc/house/callback`], {});
    try {
      const { page, open, close, faults } = await visit(browser, server.url);
      await open("/users?tab=sign-on");
      await page.getByRole("button", { name: "Add a provider" }).click();
      await typeInto(page.getByLabel("Short name"), "house");
      await page.getByText(`${server.url}/v1/auth/oidc/house/callback`).waitFor();
      const form = page.getByRole("dialog", { name: "Add a sign-on provider" });
      await typeInto(form.getByLabel("Name", { exact: true }), "House");
      await typeInto(form.getByLabel("Text of the button"), "Log in with House");
      await form.getByLabel("Icon").selectOption("Key");
      await typeInto(form.getByLabel("Color"), "#1a56db");
      await typeInto(form.getByLabel("Claim with the role"), "groups");
      await typeInto(form.getByLabel("Its values for administrators"), "Skep Admins, owners");
      await typeInto(page.getByLabel("Issuer"), provider.issuer);
      await typeInto(page.getByLabel("Client id"), CLIENT.client_id);
      await typeInto(page.getByLabel("Client secret"), "wrong");
      await page.getByRole("button", { name: "Test", exact: true }).click();
      await page.getByText("It refuses the client id or secret.").waitFor();
      await page.getByText("Copy the client's secret from the provider again").waitFor();
      await typeInto(page.getByLabel("Client secret"), CLIENT.client_secret);
      await page.getByRole("button", { name: "Test", exact: true }).click();
      await page.getByText("It accepts the client id and secret.").waitFor();
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("link", { name: "House" }).click();
      const again = page.getByRole("dialog", { name: "House" });
      for (const row of ["1", "2"]) {
        await again.getByRole("button", { name: "Add a group" }).click();
        await typeInto(again.getByLabel(`Name of group ${row}`), `Builders ${row}`);
        await again.getByLabel(`Project of group ${row}`).selectOption(ids.project);
        await again.getByLabel(`Role of group ${row}`).selectOption("maintainer");
      }
      await again.getByRole("button", { name: "Remove group 1" }).click();
      await again.getByRole("button", { name: "Save" }).click();
      await page.getByRole("dialog", { name: "House" }).waitFor({ state: "detached" });
      const kept = (await server.request("GET", "/v1/auth/oidc")).body as { items: object[] };
      expect(kept.items).toMatchObject([
        {
          slug: "house",
          role_claim: "groups",
          admin_values: ["Skep Admins", "owners"],
          group_claim: "groups",
          group_roles: [{ group: "Builders 2", project_id: ids.project, role: "maintainer" }],
          button: { label: "Log in with House", icon: "key", color: "#1a56db" },
        },
      ]);
      await close();
      expect(faults).toEqual([]);
    } finally {
      await provider.stop();
    }
  });

  test("tasks are imported and changed together; the code graph is asked; a bar leads to its calls by keyboard", async () => {
    const { server, browser, ids } = dashboard();
    const { page, open, close, faults } = await visit(browser, server.url);
    await open(`/board?project=${ids.project}`);
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitem", { name: "Import tasks" }).click();
    await typeInto(page.getByLabel("Tasks", { exact: true }), "- First of the list\n- Second of the list");
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByText("2 tasks imported.").waitFor();
    await page.getByRole("button", { name: "Close" }).last().click();
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitem", { name: "Change several" }).click();
    for (const title of ["First of the list", "Second of the list"])
      await page.getByRole("checkbox", { name: title }).check();
    await page.getByLabel("Priority").selectOption("p0");
    await page.getByRole("button", { name: "Change", exact: true }).click();
    await page.getByText("2 tasks changed.").waitFor();

    await open(`/projects/${ids.project}/graph?tab=ask`);
    await typeInto(page.getByLabel("Question in Cypher"), "MATCH (f:Function) RETURN f.name AS name LIMIT 3");
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await page.getByRole("columnheader", { name: "name" }).waitFor();

    await open("/usage");
    const bars = page.getByRole("listbox", { name: /Spend by day/ });
    await bars.focus();
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    await page.waitForURL(/day=\d{4}-/);

    await open(`/runs/${ids.failed}`);
    await page.getByRole("button", { name: "Restart from here" }).click();
    expect(await page.getByLabel("From").inputValue()).not.toBe("");
    await page.keyboard.press("Escape");
    await open("/secrets");
    await page.getByRole("columnheader", { name: "Last use" }).waitFor();
    await close();
    expect(faults).toEqual([]);
  });

  test("the editor of pipelines suggests keys and values of the place that is written at", async () => {
    const { server, browser } = dashboard();
    const { page, open, close } = await visit(browser, server.url);
    await open("/pipelines/+new");
    const editor = page.locator(".cm-content");
    await editor.click();
    await page.keyboard.press("Control+End");
    /** Retries, because the editor ignores a choice at the moment when it renews its suggestions. */
    const choose = (name: RegExp, written: string) =>
      waitFor(async () => {
        const option = page.getByRole("option", { name });
        if (await option.isVisible()) await option.click({ timeout: 1_000 }).catch(() => {});
        return (await editor.textContent())?.includes(written) ?? false;
      }, `"${written}" written by a choice among suggestions`);
    await page.keyboard.type("    on_fail");
    await choose(/on_failure/, "on_failure: ");
    await page.keyboard.type("ret");
    await choose(/^retry/, "on_failure: retry");
    await page.keyboard.type("y");
    await page.getByLabel("Problems").getByText("line").first().waitFor();
    await close();
  });
});
