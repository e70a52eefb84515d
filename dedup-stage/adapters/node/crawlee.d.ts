import type { Answer, DedupStage } from './index.js';

/** What of Crawlee's context for HTTP crawlers is used. */
export interface Context {
    request: { url: string; loadedUrl?: string };
    body: string | Uint8Array;
    contentType?: { type?: string };
    response?: { statusCode?: number };
    enqueueLinks(options: { urls: string[] } & Record<string, unknown>): Promise<unknown>;
}

/** Judges the page of a context and enqueues the links worth following; options go to Crawlee's `enqueueLinks`. */
export function enqueueUniqueLinks(
    stage: DedupStage,
    context: Context,
    options?: Record<string, unknown>,
): Promise<Answer>;
