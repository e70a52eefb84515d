// A headless Chromium, and a page in it whose every console message, error and failed request is kept.
import { mkdtempSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const require = createRequire(import.meta.url);

export const launch = () =>
  chromium.launchPersistentContext(mkdtempSync(join(tmpdir(), "chromium-")), {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });

export const open = async (context, url, { scheme = "light", width = 1100, height = 900 } = {}) => {
  const page = await context.newPage();
  const messages = [];
  page.on("console", (message) => messages.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => messages.push(`error: ${error.message}`));
  page.on("requestfailed", (request) => messages.push(`failed: ${request.url()}`));
  page.on("dialog", (dialog) => { messages.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: scheme });
  const start = performance.now();
  await page.goto(url, { waitUntil: "domcontentloaded" });
  return { page, messages, milliseconds: performance.now() - start };
};

// Violations that keep somebody out. The page's own policy forbids injected scripts, so axe comes through the debugger.
export const violations = async (page) => {
  const { source } = require("axe-core");
  const found = await page.evaluate(`(() => { ${source}; return axe.run(document, { resultTypes: ["violations"] }); })()`);
  return found.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | ")}`);
};
