// One Crawlee crawl (Cheerio) of the synthetic web or of a folder site, with or without the stage.
//
// usage: node crawlee_crawl.mjs on|off MAX_PAGES CONCURRENCY SEED…
// The environment: DEDUP_STAGE names the program, FETCHED a file for the URLs of the pages. Prints what was done.

import { writeFileSync } from 'node:fs';

import { CheerioCrawler, Configuration, log } from '@crawlee/cheerio';
import { DedupStage } from 'dedup-stage';
import { enqueueUniqueLinks } from 'dedup-stage/crawlee';

const [mode, maxPages, concurrency, ...seeds] = process.argv.slice(2);
const hosts = new Set(seeds.map((seed) => new URL(seed).host));
const stage = mode === 'on' ? new DedupStage() : null;
const fetched = [];
const counts = { pages: 0, unique: 0, exact: 0, near: 0, unjudged: 0, error: 0, failed: 0 };
log.setLevel(log.LEVELS.OFF);

const within = (request) => (hosts.has(new URL(request.url).host) ? request : false);
const crawler = new CheerioCrawler(
    {
        minConcurrency: Number(concurrency),
        maxConcurrency: Number(concurrency),
        maxRequestsPerCrawl: Number(maxPages),
        maxRequestRetries: 0,
        respectRobotsTxtFile: true,
        async requestHandler(context) {
            counts.pages += 1;
            fetched.push(context.request.loadedUrl);
            const options = { strategy: 'all', transformRequestFunction: within };
            if (stage) {
                const answer = await enqueueUniqueLinks(stage, context, options);
                counts[answer.verdict] += 1;
            } else {
                await context.enqueueLinks({ ...options, selector: 'a:not([rel~=nofollow])' });
            }
        },
        failedRequestHandler() {
            counts.failed += 1;
        },
    },
    new Configuration({ persistStorage: false, systemInfoV2: true }),
);
await crawler.run(seeds);
if (stage) {
    counts.stats = await stage.stats();
    await stage.close();
}
writeFileSync(process.env.FETCHED, fetched.join('\n'));
console.log(JSON.stringify(counts));
