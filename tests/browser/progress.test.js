// The long commands of dedup-stage on a terminal: a rate and the time left while they work, nothing when they are done or
// interrupted, and stdout pure data. The binary is the one beside the crawler under test; without it nothing is tested.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, test } from "node:test";
import { crawler, scratch, words } from "./crawler.js";

const stage = process.env.DEDUP_STAGE ?? join(dirname(crawler), "dedup-stage");
const skip = existsSync(stage) ? false : `no ${stage}`;
const dir = scratch();
const at = (name) => join(dir, name);

before(() => {
  // Random fingerprints, enough to keep a machine busy for a second or so.
  const words64 = new BigUint64Array(4_000_000);
  let state = 88172645463325252n;
  for (let row = 0; row < words64.length; row++) {
    state ^= BigInt.asUintN(64, state << 13n);
    state ^= state >> 7n;
    state ^= BigInt.asUintN(64, state << 17n);
    words64[row] = state;
  }
  writeFileSync(at("stored"), words64);
  writeFileSync(at("queries"), words64.subarray(0, 400_000));
  const pairs = Array.from({ length: 1500 }, (_, n) => JSON.stringify({ text_a: words(n), text_b: words(n % 2 ? n : n + 1), label: n % 2 }));
  writeFileSync(at("pairs.jsonl"), pairs.join("\n"));
  const block = (n) => {
    const page = `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>${words(n)}</p>`;
    return `WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-${String(n).padStart(12, "0")}>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: http://a.test/${n}\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: ${page.length}\r\n\r\n${page}\r\n\r\n`;
  };
  writeFileSync(at("in.warc"), Array.from({ length: 12_000 }, (_, n) => block(n)).join(""));
});

// Runs a command on a pseudo-terminal, its stdout in a file; `interrupt` sends ^C as soon as the progress shows.
const onTerminal = async (args, { interrupt = false } = {}) => {
  const command = `${stage} ${args} > ${at("stdout")}`;
  const child = spawn("script", ["-qec", command, "/dev/null"], { env: { ...process.env, TERM: "xterm", COLUMNS: "" }, stdio: ["pipe", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (piece) => {
    text += piece;
    if (interrupt && / left/.test(text)) {
      interrupt = false;
      child.stdin.write("\x03");
    }
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  return { code, text, stdout: readFileSync(at("stdout"), "latin1") };
};

// What a terminal shows at the end: lines that were erased are gone.
const left = (text) => text.replaceAll(/\x1b\[\d*A/g, "").split("\n").map((line) => line.split(/\x1b\[2K|\x1b\[K|\r(?!$)/).at(-1).trim());

for (const args of [
  `search --stored ${at("stored")} --queries ${at("queries")} -d 3`,
  `pairs ${at("stored")} -d 3`,
  `cluster ${at("stored")} -d 3`,
  `index ${at("stored")} -o ${at("index")}`,
  `evaluate ${at("pairs.jsonl")} --resamples 20`,
  `warc ${at("in.warc")} -o ${at("out.warc.gz")}`,
]) {
  test(`dedup-stage ${args.split(" ")[0]}`, { skip }, async () => {
    const { code, text, stdout } = await onTerminal(args);
    assert.equal(code, 0, text);
    assert.match(text, /\/s, .* left/, "a rate and the time left");
    assert.ok(left(text).every((line) => !/ left$/.test(line)), text);
    assert.doesNotMatch(stdout, /\x1b| left/);
  });
}

test("an interrupt leaves no progress behind", { skip }, async () => {
  const { code, text } = await onTerminal(`pairs ${at("stored")} -d 6`, { interrupt: true });
  assert.notEqual(code, 0);
  assert.ok(left(text).every((line) => !/ left$/.test(line)), JSON.stringify(text.slice(-300)));
});
