// Where the program is: in the package for this platform, which npm installs beside this one.

import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The name of the package with the program for a platform. */
export function platformPackage(platform = process.platform, arch = process.arch) {
    return `dedup-stage-${platform}-${arch}`;
}

/**
 * The program: what the environment variable DEDUP_STAGE names, else that of the platform's package, else whatever the
 * shell would find.
 */
export function program() {
    if (process.env.DEDUP_STAGE) return process.env.DEDUP_STAGE;
    try {
        return require.resolve(`${platformPackage()}/bin/dedup-stage`);
    } catch {
        return 'dedup-stage';
    }
}
