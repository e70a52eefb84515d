//! A forum: boards list threads in parts, and threads have one to three parts with posts of their own.

use fastrand::Rng;
use url::Url;

use super::front;
use crate::gate::draw::{Address, prose, target, word};
use crate::gate::{Page, Reply, Site};

/// A forum.
pub(super) struct Threads {
    boards: Vec<Board>,
    /// The number of threads in a part of a board.
    each: u64,
    posts: u64,
    /// Whether the link to a thread has its subject.
    titled: bool,
    /// The text on every page.
    rules: String,
}

struct Board {
    first: u64,
    threads: u64,
    parts: Address,
    /// The parts of all threads are numbered consecutively, so that the URLs of the parts of one thread follow each
    /// other.
    thread: Address,
}

/// The largest number of parts of a thread.
const PARTS: u64 = 3;

impl Threads {
    pub(super) fn draw(random: &mut Rng) -> Self {
        let each = random.u64(3..=15);
        let boards = (0..random.u64(2..=3)).map(|board| Board {
            first: board * 1_000,
            threads: random.u64(30..=60),
            parts: Address::pages(random, each),
            thread: Address::draw(random),
        });
        Self {
            boards: boards.collect(),
            each,
            posts: random.u64(2..=6),
            titled: random.bool(),
            rules: if random.bool() {
                format!("{} {}", word(random), prose(random.u64(..), 120))
            } else {
                String::new()
            },
        }
    }

    fn part(&self, board: &Board, part: u64) -> Page {
        let threads = part * self.each..((part + 1) * self.each).min(board.threads);
        let last = threads.end == board.threads;
        let page = threads.fold(Page::new("Board").paragraph(&self.rules), |page, thread| {
            let anchor = if self.titled { prose(board.first + thread, 3) } else { "Question".into() };
            page.item(board.first + thread, &board.thread.write(thread * PARTS), &anchor)
        });
        let page = if part > 0 { page.link(&board.parts.write(part - 1), "Newer") } else { page };
        if last { page } else { page.link(&board.parts.write(part + 1), "Older") }
    }

    fn thread(&self, board: &Board, number: u64) -> Option<Page> {
        let (thread, part) = (number / PARTS, number % PARTS);
        let parts = 1 + (thread * 7 + board.first / 1_000) % PARTS;
        if part >= parts {
            return None;
        }
        let first = (1 << 24) + ((board.first + thread) * PARTS + part) * 16;
        let page =
            (0..self.posts).fold(Page::new("Thread").paragraph(&self.rules), |page, post| page.text(first + post, 40));
        let page = page.link(&board.parts.write(thread / self.each), "Board");
        Some(if part + 1 < parts { page.link(&board.thread.write(number + 1), "More posts") } else { page })
    }
}

impl Site for Threads {
    fn seeds(&self) -> Vec<String> {
        front()
    }

    fn reply(&self, url: &Url) -> Reply {
        let target = target(url);
        if target == "/" {
            let page = Page::new("Forum").text(1 << 20, 60);
            let page = self.boards.iter().fold(page, |page, board| page.link(&board.parts.write(0), "A board"));
            return Reply::Page(page);
        }
        let page = self.boards.iter().find_map(|board| {
            let part = board.parts.read(target, board.threads.div_ceil(self.each)).map(|part| self.part(board, part));
            part.or_else(|| self.thread(board, board.thread.read(target, board.threads * PARTS)?))
        });
        page.map_or(Reply::Missing, Reply::Page)
    }
}
