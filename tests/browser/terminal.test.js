// The display in a real terminal (tmux, which folds lines as windows get narrower): 80 and 200 columns, resized, interrupted.
// Nothing is left on the screen, and stdout stays empty.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { crawler, scratch, site } from "./crawler.js";

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

test("colors can be declined, and without a terminal there are lines for scripts", () => {
  const dir = scratch();
  const args = ["crawl", web.url, "--dir", join(dir, "crawl"), "--allow-private", "--delay", "0s", "--address-delay", "0s", "--max-pages", "1"];
  const { stderr, stdout } = spawnSync("timeout", ["60", crawler, ...args], { encoding: "utf8" });
  assert.equal(stdout, "");
  assert.doesNotMatch(stderr, /\x1b/);
});
