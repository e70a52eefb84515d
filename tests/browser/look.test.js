// Report, demo and live page in a real browser: no console message, live updates, controls, hostile titles as text, and no
// serious violation of accessibility. `npm test` here; SCREENSHOTS=DIR also takes pictures.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch, open, violations } from "./browser.js";
import { crawl, run, scratch, site } from "./crawler.js";

let context, web;
before(async () => {
  context = await launch();
  web = await site();
});
after(async () => {
  await context.close();
  web.close();
});

const picture = (page, name) =>
  process.env.SCREENSHOTS && page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`) });

const clean = async ({ page, messages }) => {
  assert.deepEqual(messages, []);
  assert.deepEqual(await violations(page), []);
};

// What hostile titles would have left in the document, had they been markup.
const harmless = async (page) => {
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.locator("script").count(), 1);
  assert.doesNotMatch(await page.locator("body").innerHTML(), /[\u202a-\u202e\u2066-\u2069]/);
};

test("the live page updates, and is steered with the token only", async () => {
  const { live, ended, kill } = await crawl(join(scratch(), "crawl"), web.url, "--delay", "20ms", "--address-delay", "0s", "--max-pages", "5000");
  try {
    const view = await open(context, live);
    const { page } = view;
    console.log(`live page in ${view.milliseconds.toFixed(0)} ms`);
    assert.equal(new URL(page.url()).hash, "", "the token leaves the address bar");
    const pages = () => page.locator("#figures dd.value").first().innerText();
    const first = await pages();
    await page.waitForFunction((before) => document.querySelector("#figures dd.value").innerText !== before, first);
    await page.locator("#recent tbody tr").nth(5).waitFor();
    await page.locator("#hosts-now tbody tr").first().waitFor();
    await harmless(page);

    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("Paused: nothing new").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("Running.").waitFor();
    await picture(page, "live");
    await clean(view);

    const details = await page.locator("#recent a[href^='page?at=']").first().getAttribute("href");
    const one = await open(context, new URL(details, live).href);
    await clean(one);
    await one.page.close();

    // Another page has no token, and asks in vain: the controls are not even shown.
    const stranger = await open(context, live.split("#")[0]);
    await stranger.page.evaluate(() => sessionStorage.clear());
    await stranger.page.reload();
    assert.equal(await stranger.page.getByRole("button", { name: "Stop" }).isVisible(), false);
    const status = await stranger.page.evaluate(async () => (await fetch("/control", { method: "POST", body: '{"do":"stop"}' })).status);
    assert.equal(status, 401);
    await stranger.page.close();

    const dark = await open(context, live, { scheme: "dark", width: 380 });
    await clean(dark);
    await dark.page.close();

    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("The crawl has ended.").waitFor();
    assert.equal(await ended, 11);
    await page.close();
  } finally {
    kill();
  }
});

test("metrics please promtool", async (context_) => {
  if (!existsSync("/usr/bin/promtool")) return context_.skip("no promtool here");
  const { live, kill } = await crawl(join(scratch(), "crawl"), web.url, "--delay", "50ms", "--max-pages", "2000");
  try {
    const metrics = new URL("/metrics", live);
    const text = await (await fetch(metrics)).text();
    execFileSync("promtool", ["check", "metrics"], { input: text, stdio: ["pipe", "inherit", "inherit"] });
    const open_metrics = await fetch(metrics, { headers: { accept: "application/openmetrics-text; version=1.0.0" } });
    assert.match(await open_metrics.text(), /# EOF\n$/);
    assert.equal(await (await fetch(new URL("/healthz", live))).text(), "ok\n");
  } finally {
    kill();
  }
});

test("a report sorts, searches and keeps hostile titles as text", async () => {
  const dir = join(scratch(), "crawl");
  const { ended } = await crawl(dir, web.url, "--delay", "0s", "--address-delay", "0s", "--delay-factor", "0", "--max-pages", "400", "--warc");
  assert.equal(await ended, 14);
  assert.match(run("report", dir), /unique/);
  for (const scheme of ["light", "dark"]) {
    const view = await open(context, `file://${dir}/report.html`, { scheme });
    const { page } = view;
    await harmless(page);
    assert.match(await page.locator(".words ins").first().innerText(), /again/, "words that only a near-duplicate has");
    await page.getByRole("button", { name: "words" }).click();
    const words = await page.locator("#pages-table tbody tr td:nth-child(6)").allInnerTexts();
    const numbers = words.map((text) => Number(text.replaceAll(",", "")));
    assert.deepEqual(numbers, [...numbers].sort((a, b) => b - a));
    await page.locator("input[aria-controls=pages-table]").fill("U+202E");
    const status = await page.locator("#pages-table-status").innerText();
    assert.match(status, /^[1-9]\d* of \d+ rows$/);
    await clean(view);
    await page.evaluate(() => scrollTo(0, 0));
    await picture(page, `report-${scheme}`);
    await page.close();
  }
});

test("the demo ends with both crawls beside each other", async () => {
  const dir = scratch();
  run("demo", "--no-open", "--dir", dir);
  const view = await open(context, `file://${dir}/report.html`);
  assert.equal(await view.page.locator("path.line").count(), 2);
  await clean(view);
  await picture(view.page, "demo");
});
