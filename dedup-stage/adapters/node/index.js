// A stream client for the dedup-stage program: JSON Lines over its stdin and stdout, answers in the order of the questions.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import { program } from './program.js';

/** Answers of judgeAll that may be outstanding. */
const AHEAD = 256;

export class DedupStage {
    #process;
    #waiting = [];
    #ended = null;
    #closed;

    constructor({ state, onDuplicate, distance, threads, command } = {}) {
        const options = { state, 'on-duplicate': onDuplicate, distance, threads };
        const args = ['run'];
        for (const [name, value] of Object.entries(options)) {
            if (value !== undefined) args.push(`--${name}`, String(value));
        }
        const path = command ?? program();
        this.#process = spawn(path, args, { stdio: ['pipe', 'pipe', 'inherit'] });
        // What ends the program is said to whoever waits for an answer.
        this.#process.stdin.on('error', () => {});
        createInterface({ input: this.#process.stdout, crlfDelay: Infinity }).on('line', (line) => {
            this.#waiting.shift()?.resolve(JSON.parse(line));
        });
        this.#closed = new Promise((resolve) => {
            this.#process.on('error', (error) => {
                this.#end(new Error(`${path} cannot be started: ${error.message}`));
                resolve(null);
            });
            this.#process.on('close', (code) => {
                this.#end(new Error(`dedup-stage ended with code ${code}`));
                resolve(code);
            });
        });
    }

    judge({ url, body, contentType, status, links, id, priority }) {
        const line = { id, url, content_type: contentType, status, links, priority };
        if (typeof body === 'string') line.body = body;
        else line.body_base64 = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64');
        return this.#ask(line);
    }

    async *judgeAll(pages) {
        const outstanding = [];
        for await (const page of pages) {
            outstanding.push(this.judge(page));
            // A failure is raised where its answer is taken.
            outstanding.at(-1).catch(() => {});
            if (outstanding.length === AHEAD) yield await outstanding.shift();
            if (this.#process.stdin.writableNeedDrain && !this.#ended) {
                await Promise.race([once(this.#process.stdin, 'drain'), this.#closed]);
            }
        }
        while (outstanding.length > 0) yield await outstanding.shift();
    }

    flush() {
        return this.#ask({ op: 'flush' });
    }

    stats() {
        return this.#ask({ op: 'stats' });
    }

    async close() {
        this.#process.stdin.end();
        const code = await this.#closed;
        if (code !== 0 && code !== 11) throw this.#ended;
    }

    #ask(line) {
        return new Promise((resolve, reject) => {
            if (this.#ended) {
                reject(this.#ended);
                return;
            }
            this.#waiting.push({ resolve, reject });
            this.#process.stdin.write(`${JSON.stringify(line)}\n`);
        });
    }

    #end(error) {
        this.#ended ??= error;
        for (const { reject } of this.#waiting.splice(0)) reject(this.#ended);
    }
}
