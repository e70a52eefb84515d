// Report, demo and live page in a real browser: no console message, live updates, controls, hostile titles as text, and no
// serious violation of accessibility. `npm test` here; `node pictures.js` takes pictures.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { request } from "node:http";
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

// Nothing sticks out sideways: what is wide scrolls in a box of its own.
const fits = async (page) =>
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is wider than the window");

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
  const { live, ended, kill } = await crawl(join(scratch(), "crawl"), web.url, "--delay", "20ms", "--address-delay", "0s", "--query-weight", "0", "--max-pages", "5000");
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
    // Before long, a rule is proven. It stands there with its evidence; then with an example of the copies that it stopped.
    const rule = page.locator("#rules-now tbody tr").filter({ hasText: "parameter" }).first();
    const shows = (text) => rule.filter({ hasText: text }).waitFor();
    await shows(/without %3Cb%3E%E2%80%AE/);
    await shows(/\d+ pairs of pages agreed/);
    await shows(/not audited|\d+ audits? failed/);
    await shows(/stopped for example http/);
    await page.locator("#held").filter({ hasText: "a learned URL rule" }).waitFor();
    await harmless(page);

    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("Nothing new is asked for").waitFor();
    // By keyboard: the button has kept the focus, and now does the opposite.
    await page.getByRole("button", { name: "Resume" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("Running", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await fits(page);
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
    // A wrong token changes nothing and is asked for again; the right one is taken.
    stranger.messages.length = 0;
    const tell = async (token) => {
      await stranger.page.getByLabel("Token").fill(token);
      await stranger.page.keyboard.press("Enter");
      await stranger.page.getByRole("button", { name: "Pause" }).click();
    };
    await tell("00");
    await stranger.page.getByText("This is not the token").waitFor();
    await tell(live.split("#")[1]);
    await page.getByText("Nothing new is asked for").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("Running", { exact: true }).waitFor();
    await stranger.page.close();

    for (const scheme of ["light", "dark"]) {
      const narrow = await open(context, live, { scheme, width: 380 });
      await fits(narrow.page);
      await clean(narrow);
      await narrow.page.close();
    }

    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("This is how it stood at the end").waitFor();
    assert.equal(await ended, 11);
    await clean(view);
    await page.close();
  } finally {
    kill();
  }
});

test("from elsewhere nobody gets in", async () => {
  const { live, kill } = await crawl(join(scratch(), "crawl"), web.url, "--delay", "50ms", "--max-pages", "2000");
  try {
    const token = live.split("#")[1];
    const { port } = new URL(live);
    const ask = (headers, method = "GET", path = "/") =>
      new Promise((resolve, reject) => {
        const asked = request({ host: "127.0.0.1", port, path, method, headers }, (answer) => {
          answer.resume();
          resolve(answer);
        });
        asked.on("error", reject);
        asked.end(method === "POST" ? '{"do":"stop"}' : undefined);
      });
    const here = `127.0.0.1:${port}`;
    const bearer = { authorization: `Bearer ${token}` };
    // DNS rebinding: the browser believes that another name is here, and sends that name.
    assert.equal((await ask({ host: `evil.example:${port}` })).statusCode, 403);
    assert.equal((await ask({ host: here, origin: "http://evil.example", ...bearer }, "POST", "/control")).statusCode, 403);
    assert.equal((await ask({ host: here, "sec-fetch-site": "cross-site" })).statusCode, 403);
    assert.equal((await ask({ host: here }, "POST", "/control")).statusCode, 401);
    const { statusCode, headers } = await ask({ host: here });
    assert.equal(statusCode, 200);
    const policy = headers["content-security-policy"];
    assert.match(policy, /^default-src 'none'; style-src 'sha256-[^ ]+'; script-src 'sha256-[^ ]+';/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    // What a form on another page would send, without the token it cannot know.
    const form = { host: here, origin: "http://evil.example", "content-type": "application/x-www-form-urlencoded" };
    assert.equal((await ask(form, "POST", "/control")).statusCode, 403);
  } finally {
    kill();
  }
});

test("metrics please promtool", async (context_) => {
  if (!existsSync("/usr/bin/promtool")) return context_.skip("no promtool here");
  const { live, kill } = await crawl(join(scratch(), "crawl"), web.url, "--delay", "50ms", "--max-pages", "2000");
  try {
    const metrics = new URL("/metrics", live);
    let answer = await fetch(metrics);
    while (answer.status === 503) answer = await fetch(metrics);
    const text = await answer.text();
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
  const { ended } = await crawl(dir, web.url, "--delay", "0s", "--address-delay", "0s", "--delay-factor", "0", "--query-weight", "0", "--max-pages", "400", "--warc");
  assert.equal(await ended, 14);
  assert.match(run("report", dir), /unique.*rules +1 .*crawler rules/s);
  const rules = run("rules", dir);
  assert.match(rules, /^parameter .*without %3Cb%3E%E2%80%AE\n +\d+ pairs of pages agreed/);
  assert.equal(JSON.parse(run("rules", dir, "--json"))[0].status, "proven");
  for (const scheme of ["light", "dark"]) {
    const view = await open(context, `file://${dir}/report.html`, { scheme });
    const { page } = view;
    await harmless(page);
    await page.getByRole("region", { name: "1 rule in force" }).getByText("stopped for example").waitFor();
    await page.locator(".words ins", { hasText: "again" }).first().waitFor();
    await page.getByRole("button", { name: "words" }).click();
    const words = await page.locator("#pages-table tbody tr td:nth-child(6)").allInnerTexts();
    const numbers = words.map((text) => Number(text.replaceAll(",", "")));
    assert.deepEqual(numbers, [...numbers].sort((a, b) => b - a));
    await page.locator("input[aria-controls=pages-table]").fill("U+202E");
    const status = await page.locator("#pages-table-status").innerText();
    assert.match(status, /^[1-9]\d* of \d+ rows$/);
    await clean(view);
    for (const width of [380, 1700]) {
      await page.setViewportSize({ width, height: 900 });
      await fits(page);
    }
    await page.close();
  }
});

test("a report is used by keyboard", async () => {
  const dir = join(scratch(), "crawl");
  const { ended } = await crawl(dir, web.url, "--delay", "0s", "--address-delay", "0s", "--delay-factor", "0", "--max-pages", "30");
  assert.equal(await ended, 14);
  run("report", dir);
  const view = await open(context, `file://${dir}/report.html`);
  const { page } = view;
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the report");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => location.hash), "#main");
  const head = page.locator("#pages-table th button").nth(5);
  await head.focus();
  await page.keyboard.press("Space");
  assert.equal(await page.locator("#pages-table th").nth(5).getAttribute("aria-sort"), "descending");
  await clean(view);
  await page.close();
});

test("the demo ends with both crawls beside each other", async () => {
  const dir = scratch();
  run("demo", "--no-open", "--dir", dir);
  const view = await open(context, `file://${dir}/report.html`);
  assert.equal(await view.page.locator("path.line").count(), 2);
  await fits(view.page);
  await clean(view);
  await view.page.emulateMedia({ colorScheme: "dark" });
  await clean(view);
});
