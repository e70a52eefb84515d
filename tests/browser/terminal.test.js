// The display in a real terminal (tmux, which folds lines as windows get narrower): 80 and 200 columns, resized, interrupted.
// Nothing is left on the screen, and stdout stays empty.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { crawler, scratch, site, start } from "./crawler.js";

let web;
before(async () => { web = await site(); });
after(() => web.close());

const tmux = (...args) => execFileSync("tmux", ["-L", `look-${process.pid}`, ...args], { encoding: "utf8" });
const screen = () => tmux("capture-pane", "-p", "-t", "look").trimEnd().split("\n");
const until = async (what, found) => {
  for (let tries = 0; tries < 600; tries++) {
    const lines = screen();
    if (found(lines)) return lines;
    await sleep(100);
  }
  assert.fail(`${what}:\n${screen().join("\n")}`);
};
const drawn = (lines) => lines.filter((line) => / pages ·| unique ·| queued ·/.test(line));

for (const columns of [80, 200]) {
  test(`${columns} columns`, async (context) => {
    if (spawnSync("tmux", ["-V"]).error) return context.skip("no tmux here");
    const dir = scratch();
    const stdout = join(dir, "stdout");
    const flags = "--allow-private --delay 30ms --address-delay 0s --max-pages 100000";
    const command = `${crawler} crawl ${web.url} --dir ${join(dir, "crawl")} ${flags} > ${stdout}; echo exit=$?; sleep 600`;
    tmux("new-session", "-d", "-s", "look", "-x", String(columns), "-y", "24", command);
    try {
      let lines = await until("three lines", (lines) => drawn(lines).length === 3);
      assert.ok(lines.every((line) => line.length < columns));
      for (const narrower of [columns / 2, 33, columns]) {
        tmux("resize-window", "-t", "look", "-x", String(narrower));
        await sleep(1500);
        lines = await until("one display after a resize", (lines) => drawn(lines).length > 0);
        assert.ok(drawn(lines).length <= 3 && lines.filter((line) => / pages/.test(line)).length === 1, lines.join("\n"));
      }
      // So narrow that hardly a number fits.
      tmux("resize-window", "-t", "look", "-x", "12");
      await sleep(1000);
      assert.ok(screen().filter((line) => / pages/.test(line)).length <= 1, screen().join("\n"));
      tmux("resize-window", "-t", "look", "-x", String(columns));
      await sleep(1000);
      tmux("send-keys", "-t", "look", "C-c");
      lines = await until("the end", (lines) => lines.some((line) => line.startsWith("exit=")));
      assert.deepEqual(drawn(lines), [], "the display is gone");
      assert.ok(lines.includes("exit=11") && lines.some((line) => /^got +\d/.test(line)), lines.join("\n"));
      assert.equal(readFileSync(stdout, "utf8"), "");
    } finally {
      tmux("kill-server");
    }
  });
}

// What arrives at the terminal while `flags` crawl some pages, escape sequences included.
const raw = async (dir, environment, flags) => {
  const command = `${crawler} crawl ${web.url} --dir ${join(dir, "crawl")} --allow-private --delay 30ms --address-delay 0s ${flags}`;
  const child = spawn("script", ["-qec", command, "/dev/null"], { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, TERM: "xterm", ...environment } });
  let text = "";
  child.stdout.on("data", (piece) => { text += piece; });
  await new Promise((resolve) => child.on("close", resolve));
  return text;
};

test("colors can be declined, and so can everything", async () => {
  assert.match(await raw(scratch(), {}, "--max-pages 40"), /\x1b\[1m/);
  const plain = await raw(scratch(), { NO_COLOR: "1" }, "--max-pages 40");
  assert.doesNotMatch(plain, /\x1b\[[\d;]*m/);
  assert.match(plain, / pages ·/);
  assert.equal(await raw(scratch(), {}, "--max-pages 10 -q"), "");
  assert.doesNotMatch(await raw(scratch(), {}, "--max-pages 10 --progress none"), / pages ·|\x1b/);
});

test("without a terminal there are lines for scripts", async () => {
  const flags = ["--allow-private", "--delay", "0s", "--address-delay", "0s", "--max-pages", "5"];
  const { code, stderr, stdout } = await start("crawl", web.url, "--dir", join(scratch(), "crawl"), ...flags);
  assert.equal(code, 14);
  assert.equal(stdout, "");
  assert.doesNotMatch(stderr, /\x1b/);
  assert.match(stderr, /^progress time=\S+ elapsed_seconds=[\d.]+ pages=5 unique=\d+ .*hosts_backing_off=\d+$/m);
});

test("a reader who has seen enough is no failure", () => {
  for (const args of ["completions zsh", "man crawl", "--help"]) {
    const { status, stderr } = spawnSync("sh", ["-c", `{ ${crawler} ${args}; echo $? >&3; } 3>&2 | true`], { encoding: "utf8" });
    assert.equal(status, 0);
    assert.equal(stderr.trim(), "0", args);
  }
});
