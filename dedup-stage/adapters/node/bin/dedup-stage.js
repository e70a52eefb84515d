#!/usr/bin/env node
// `npx dedup-stage`: the program, with this process's input and outputs.

import { spawn } from 'node:child_process';

import { platformPackage, program } from '../program.js';

const child = spawn(program(), process.argv.slice(2), { stdio: 'inherit' });
// The terminal sends its signals to both; the program decides when it ends.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
    console.error(`dedup-stage: ${error.message}; is the package ${platformPackage()} installed?`);
    process.exitCode = 1;
});
child.on('close', (code, signal) => {
    process.exitCode = code ?? (signal === null ? 1 : 128);
});
