// Pictures of the live page, the report and the demo's report, for the README and for whoever changes how they look:
// `node pictures.js [DIR]` writes small ones into DIR (default: screenshots); `--whole` whole pages, light and dark, wide,
// narrow and printed. Needs the crawler and the server of the synthetic web (`cargo build --release -p dedup-stage-crawler -p tests`).
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, open } from "./browser.js";
import { crawl, root, run, scratch } from "./crawler.js";

const whole = process.argv.includes("--whole");
const into = process.argv.slice(2).find((argument) => !argument.startsWith("--")) ?? join(dirname(fileURLToPath(import.meta.url)), "screenshots");
mkdirSync(into, { recursive: true });

const PORT = "8190";
const server = process.env.SERVE_WEB ?? join(root, "target", "release", "serve-web");
const web = spawn(server, ["--web", "demo", "--coined", "--port", PORT], { stdio: ["ignore", "ignore", "inherit"] });
const seeds = await new Promise((resolve) => {
  const asked = spawn(server, ["--web", "demo", "--coined", "--port", PORT, "--seeds"]);
  let text = "";
  asked.stdout.on("data", (piece) => { text += piece; });
  asked.on("close", () => resolve(text.trim().split("\n")));
});

const context = await launch();
// Few colours: a third of the size.
const PALETTE = "import sys; from PIL import Image; p = sys.argv[1]; Image.open(p).convert('RGB').quantize(160, dither=0).save(p, optimize=True)";
const picture = async (url, name, view = {}, ready = async () => {}) => {
  const { page } = await open(context, url, { height: 780, ...view });
  await ready(page);
  const path = join(into, whole ? `${name}-${view.width}.png` : `${name}.png`);
  await page.screenshot({ path, fullPage: whole });
  if (!whole && spawnSync("python3", ["-c", PALETTE, path]).status !== 0) console.log(`${path}: not made smaller, for want of Pillow`);
  if (whole && view.print) await page.pdf({ path: path.replace(/png$/, "pdf"), format: "A4" });
  await page.close();
};
const looks = whole
  ? [["light", 1100], ["dark", 1100], ["light", 380], ["dark", 1700]]
  : [["light", 1160], ["dark", 1160]];

try {
  const dir = join(scratch(), "crawl");
  // Whole pages are more pictures, so their crawl lasts longer.
  const flags = ["--connect-to", `::127.0.0.1:${PORT}`, "--delay", whole ? "90ms" : "30ms", "--address-delay", "0s", "--scope", "host", "--warc", "--max-pages", "1200"];
  const { live, ended, kill } = await crawl(dir, seeds[0], ...seeds.slice(1), ...flags);
  try {
    const far = (page) => page.waitForFunction(() => Number((document.querySelector("#figures dd.value")?.innerText ?? "0").replaceAll(",", "")) > 700, undefined, { timeout: 120_000 });
    for (const [scheme, width] of looks) await picture(live, `live-${scheme}`, { scheme, width }, far);
    await ended;
  } finally {
    kill();
  }
  run("report", dir);
  for (const [scheme, width] of looks) await picture(`file://${dir}/report.html`, `report-${scheme}`, { scheme, width, print: true });
  const demo = scratch();
  run("demo", "--no-open", "--dir", demo);
  for (const [scheme, width] of looks) await picture(`file://${demo}/report.html`, `demo-${scheme}`, { scheme, width, print: true });
} finally {
  await context.close();
  web.kill();
  await once(web, "exit");
}
