#!/usr/bin/env node
// Makes the package with the program for one platform: node scripts/platform.mjs BINARY OUT [PLATFORM-ARCH]

import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { platformPackage } from '../program.js';

const [binary, out, target = `${process.platform}-${process.arch}`] = process.argv.slice(2);
if (out === undefined) {
    console.error('usage: platform.mjs BINARY OUT [PLATFORM-ARCH]');
    process.exit(2);
}
const [platform, arch] = target.split('-');
const here = dirname(fileURLToPath(import.meta.url));
const main = JSON.parse(await readFile(join(here, '../package.json'), 'utf8'));
const licences = ['LICENSE-MIT', 'LICENSE-APACHE'];
await mkdir(join(out, 'bin'), { recursive: true });
await copyFile(binary, join(out, 'bin/dedup-stage'));
for (const licence of licences) await copyFile(join(here, '../../../..', licence), join(out, licence));
await chmod(join(out, 'bin/dedup-stage'), 0o755);
const name = platformPackage(platform, arch);
const manifest = {
    name,
    version: main.version,
    description: `The program dedup-stage for ${platform} on ${arch}; installed by the package dedup-stage`,
    license: main.license,
    os: [platform],
    cpu: [arch],
    files: ['bin/dedup-stage', ...licences],
};
await writeFile(join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
console.log(name);
