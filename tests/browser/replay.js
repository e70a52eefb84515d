// Looks at pages that pywb replays, whose addresses are the arguments. Each must have its style, its script and its picture, and
// no request may leave the archive. See tests/peers/archives.
import { launch, open } from "./browser.js";

const context = await launch();
let wrong = 0;
for (const address of process.argv.slice(2)) {
  const away = [];
  context.on("request", (request) => {
    if (!request.url().startsWith(new URL(address).origin) && /^https?:/.test(request.url())) away.push(request.url());
  });
  const { page } = await open(context, address);
  await page.waitForLoadState("networkidle");
  const frames = await Promise.all(page.frames().map((frame) => frame.evaluate(() => ({
    told: document.getElementById("told")?.textContent,
    width: document.querySelector("h1") && getComputedStyle(document.querySelector("h1")).width,
    picture: document.getElementById("picture")?.naturalWidth,
  }))));
  const found = frames.find(({ told }) => told);
  if (found?.told !== "The script ran." || found.width !== "123px" || found.picture !== 3 || away.length) {
    console.log(`${address}: ${JSON.stringify(frames)}, requests that left the archive: ${away}`);
    wrong += 1;
  }
  await page.close();
}
await context.close();
process.exit(wrong ? 1 : 0);
