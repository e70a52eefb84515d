/** A page to judge. */
export interface Page {
    url: string;
    /** Text is sent as text, bytes as base64. */
    body: string | Uint8Array;
    contentType?: string;
    status?: number;
    /** Out-links, if they are extracted already; else they are read from the page. */
    links?: string[];
    /** Comes back unchanged. */
    id?: unknown;
    /** 0..1, inherited by the links. */
    priority?: number;
}

/** A link to follow. */
export interface Link {
    url: string;
    key: string;
    priority: number;
    /** Place among the links that were sent, where links were sent. */
    given?: number;
}

/** The program's answer to a page. */
export interface Answer {
    id: unknown;
    url: string;
    key: string;
    verdict: 'unique' | 'exact' | 'near' | 'unjudged' | 'error';
    duplicate_of: string | null;
    duplicate_id: unknown;
    distance: number | null;
    resemblance: number | null;
    novelty: number;
    sha256: string;
    simhash: string | null;
    links: Link[];
    links_dropped: number;
    error?: { code: string; message: string };
}

export interface Options {
    /** Folder that remembers across runs; one process at a time. */
    state?: string;
    onDuplicate?: 'drop' | 'demote' | 'keep';
    distance?: number;
    threads?: number;
    /** The program; by default what the environment variable DEDUP_STAGE says, else `dedup-stage`. */
    command?: string;
}

/** A running `dedup-stage`. */
export class DedupStage {
    constructor(options?: Options);
    /** Judges one page; any number may be asked for at once, answers keep the order. */
    judge(page: Page): Promise<Answer>;
    /** Judges pages and yields the answers in order; sends ahead, so that all cores work. */
    judgeAll(pages: Iterable<Page> | AsyncIterable<Page>): AsyncGenerator<Answer>;
    /** Puts the state on disk, then gives the counts. */
    flush(): Promise<Record<string, unknown>>;
    /** The counts. */
    stats(): Promise<Record<string, unknown>>;
    /** Ends the program; its state is on disk then. */
    close(): Promise<void>;
}
