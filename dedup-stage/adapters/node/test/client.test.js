// Against the built program: DEDUP_STAGE=…/dedup-stage node --test dedup-stage/adapters/node

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { enqueueUniqueLinks } from '../crawlee.js';
import { DedupStage } from '../index.js';

const text = Array.from({ length: 40 }, (_, n) => `word${n} of a page that says something`).join(' ');
const html = `<title>One</title><p>${text}</p><a href='/next'>next</a>`;

test('a copy is a copy', async () => {
    const stage = new DedupStage();
    const first = await stage.judge({ url: 'http://a.test/1', body: html, id: { n: 1 } });
    const copy = await stage.judge({ url: 'http://b.test/1', body: Buffer.from(html), contentType: 'text/html' });
    await stage.close();
    assert.equal(first.verdict, 'unique');
    assert.deepEqual(first.links.map((link) => link.url), ['http://a.test/next']);
    assert.equal(copy.verdict, 'exact');
    assert.deepEqual(copy.duplicate_id, { n: 1 });
    assert.deepEqual(copy.links, []);
});

test('answers keep the order', async () => {
    const stage = new DedupStage({ threads: 3 });
    async function* pages() {
        for (let n = 0; n < 500; n += 1) yield { url: `http://a.test/${n}`, body: html.repeat(20), id: n };
    }
    let next = 0;
    for await (const answer of stage.judgeAll(pages())) assert.equal(answer.id, next++);
    assert.equal(next, 500);
    assert.equal((await stage.stats()).pages, 500);
    await stage.close();
});

test('the state is remembered', async () => {
    const state = await mkdtemp(join(tmpdir(), 'dedup-stage-'));
    const first = new DedupStage({ state });
    await first.judge({ url: 'http://a.test/1', body: html });
    assert.equal((await first.flush()).pages, 1);
    await first.close();
    const second = new DedupStage({ state });
    assert.equal((await second.judge({ url: 'http://b.test/', body: html })).duplicate_of, 'http://a.test/1');
    await second.close();
    await rm(state, { recursive: true });
});

test('what goes wrong is said', async () => {
    await assert.rejects(new DedupStage({ command: '/no/such/program' }).judge({ url: 'x', body: '' }), /cannot be started/);
    await assert.rejects(new DedupStage({ distance: 1000 }).judge({ url: 'x', body: '' }), /code 2/);
});

test('Crawlee is told which links to follow', async () => {
    const stage = new DedupStage();
    const enqueued = [];
    const context = (url) => ({
        request: { url },
        body: html,
        contentType: { type: 'text/html' },
        response: { statusCode: 200 },
        async enqueueLinks(options) {
            enqueued.push(options);
        },
    });
    await enqueueUniqueLinks(stage, context('http://a.test/1'), { label: 'x' });
    const copy = await enqueueUniqueLinks(stage, context('http://b.test/1'), { label: 'x' });
    await stage.close();
    assert.deepEqual(enqueued, [{ label: 'x', urls: ['http://a.test/next'] }]);
    assert.equal(copy.verdict, 'exact');
});
