//! A forum. Each post has three URLs. The pages of the board have equal text and different links.

use super::rng::Rng;
use super::words;

/// A forum on a site.
#[derive(Clone, Debug)]
pub(super) struct Forum {
    pub folder: &'static str,
    pub topic: &'static str,
    pub single: &'static str,
    pub page_parameter: &'static str,
    pub posts: u32,
}

/// The number of URLs of a post.
pub(super) const FORMS: u32 = 3;

impl Forum {
    /// The number of posts of a topic.
    pub const TOPIC: u32 = 12;
    /// The number of topics on a page of the board.
    pub const BOARD: u32 = 15;

    pub fn new(seed: u64, posts: u32) -> Self {
        let mut rng = Rng::new(seed, &[30]);
        Self {
            folder: rng.pick(words::FORUMS),
            topic: rng.pick(&["t", "topic", "thread", "f"]),
            single: rng.pick(&["post", "msg", "single", "entry"]),
            page_parameter: rng.pick(words::PAGES),
            posts,
        }
    }

    /// The number of pages of the board.
    pub fn board_pages(&self) -> u32 {
        self.posts.div_ceil(Self::TOPIC * Self::BOARD)
    }

    /// The first posts of the topics on a page of the board.
    pub fn topics(&self, page: u32) -> impl Iterator<Item = u32> {
        let posts = self.posts;
        (page * Self::BOARD..(page + 1) * Self::BOARD)
            .map(|topic| topic * Self::TOPIC)
            .filter(move |post| *post < posts)
    }

    /// The path of a page of the board.
    pub fn board_path(&self, page: u32) -> String {
        match page {
            0 => format!("/{}/", self.folder),
            page => format!("/{}/?{}={}", self.folder, self.page_parameter, page + 1),
        }
    }

    /// The path of a post in one of its forms.
    pub fn post_path(&self, post: u32, form: u32) -> String {
        let Self { folder, topic, single, .. } = self;
        match form {
            0 => format!("/{folder}/view.php?{topic}={}&{single}={post}", post / Self::TOPIC),
            1 => format!("/{folder}/view.php?{single}={post}"),
            _ => format!("/{folder}/{topic}-{}/{single}-{post}", post / Self::TOPIC),
        }
    }

    /// What a path below the folder shows, with its query: `Ok` with a post and its form, or `Err` with a page of the
    /// board.
    pub fn find(&self, rest: &[&str], query: &str) -> Option<Result<(u32, u32), u32>> {
        let parameter = |name: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.find(|(key, _)| *key == name).and_then(|(_, value)| value.parse::<u32>().ok())
        };
        match rest {
            [""] if query.is_empty() => Some(Err(0)),
            [""] => Some(Err(parameter(self.page_parameter)?.checked_sub(1)?)),
            ["view.php"] => Some(Ok((parameter(self.single)?, u32::from(parameter(self.topic).is_none())))),
            [_, name] => Some(Ok((name.rsplit_once('-')?.1.parse().ok()?, 2))),
            _ => None,
        }
    }
}
