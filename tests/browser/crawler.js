// The crawler under test, and what it is given to crawl. `CRAWLER` names the binary, `SERVE_WEB` the synthetic web's server.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const crawler = process.env.CRAWLER ?? join(root, "target", "debug", "crawler");

// Resolves to how a command ended and what it said. Not at once: the web that it may ask lives in this process.
export const start = async (...args) => {
  const child = spawn(crawler, args, { stdio: ["ignore", "pipe", "pipe"], timeout: 60_000 });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].on("data", (piece) => { said[name] += piece; });
  const code = await new Promise((resolve) => child.on("close", resolve));
  return { code, ...said };
};

export const run = (...args) => execFileSync(crawler, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

export const scratch = () => mkdtempSync(join(tmpdir(), "look-"));

const HOSTILE = ["</title><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "invoice\u202efdp.exe", "bell\u0007 escape\u001b[31m", "שלום \" ' &"];
// Words that have nothing to do with those of another seed (a xorshift generator, warmed up).
export const words = (seed) => {
  let state = (seed * 2654435761 + 88675123) >>> 0 || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>>= 0);
  };
  for (let round = 0; round < 20; round++) next();
  return Array.from({ length: 160 }, () => `word${next() % 5000}`).join(" ");
};

// A parameter that makes no difference, with a name that would like to.
export const PARAMETER = "<b>\u202e";
// An endless site of small pages with hostile titles; every fourth page repeats the one before but for a word, and every page
// has a copy under a parameter (whose turn comes last, unless --query-weight is 0).
export const site = () =>
  new Promise((resolve) => {
    const server = createServer((request, response) => {
      if (request.url === "/robots.txt") {
        response.writeHead(200, { "content-type": "text/plain" }).end("User-agent: *\nDisallow: /secret\n");
        return;
      }
      const n = Number(request.url.match(/\d+/)?.[0] ?? 0);
      const text = n % 4 === 3 ? `${words(n - 1)} again` : words(n);
      const links = [2 * n + 1, 2 * n + 2].map((to) => `<a href="/p${to}">to ${to}</a>`).join(" ");
      const title = HOSTILE[n % 9] ?? `Page ${n}`;
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
      response.end(`<title>${title.replace("</title>", "&lt;/title&gt;").replaceAll("<", "&lt;")}</title><p>${text}</p>${links} <a href="/p${n}?${PARAMETER}=1">copy</a> <a href="/secret${n}">s</a>`);
    });
    server.listen(0, "127.0.0.1", () => resolve({ url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() }));
  });

// A crawl under way, with its live page. `ended` resolves to the exit code.
export const crawl = async (dir, seed, ...args) => {
  const child = spawn(crawler, ["crawl", seed, "--dir", dir, "--allow-private", "--dashboard", "127.0.0.1:0", "--progress", "none", ...args]);
  let said = "";
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const live = await new Promise((resolve, reject) => {
    child.stderr.on("data", (piece) => {
      said += piece;
      const found = said.match(/live page: (\S+)/);
      if (found) resolve(found[1]);
    });
    ended.then(() => reject(new Error(said)));
  });
  return { live, ended, kill: () => child.kill("SIGKILL"), said: () => said };
};
