//! The identity of a medium: the parts of its address that tell one file from another.
//!
//! A medium of the page's own site is known by the name of its file and the folder around it, so that a mirror under
//! another host or in another folder has the same media. A medium of another site (a CDN) is known by its whole path,
//! because a mirror names the same address. Folders and names that only tell a size do not count.
//!
//! If a script draws a picture (`/image.php?id=7`), its parameters count, unless they tell a size or only keep the
//! picture out of caches. Parameters of a file (`/7.jpg?v=3`) count only if their name says that they choose a picture.

use url::{Host, Url};
use xxhash_rust::xxh3::Xxh3;

use super::address_words::{ADS, BESIDE, CHOICES, SCRIPTS, SIZES};

/// A medium, by the hashes of its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// It lies on the page's own site, and has this hash.
    Own(u64),
    /// It lies on another site.
    Away {
        /// The hash of its whole path.
        whole: u64,
        /// The hash that it has on the pages of its own site.
        there: u64,
    },
}

impl Medium {
    /// The medium of the page's own site at this address.
    pub fn own(url: &Url) -> Option<Self> {
        Address::new(url, Site::Own).map(|address| Self::Own(address.own()))
    }

    /// The medium at an address of another site. `None` for advertisements and trackers, as far as their address tells,
    /// and for hosts without a name.
    pub fn away(url: &Url) -> Option<Self> {
        let Some(Host::Domain(host)) = url.host() else { return None };
        if names_ads(host) || url.path_segments()?.any(names_ads) {
            return None;
        }
        let address = Address::new(url, Site::Away)?;
        Some(Self::Away { whole: address.whole(), there: address.own() })
    }
}

/// The site of a medium: that of the page, or another one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Site {
    Own,
    Away,
}

/// An address in parts.
struct Address<'u> {
    /// The folders that tell no size.
    folders: Vec<&'u str>,
    /// The name of the file without its size; empty if it only tells a size.
    name: String,
    /// The parameters that count.
    query: Vec<(String, String)>,
}

impl<'u> Address<'u> {
    fn new(url: &'u Url, site: Site) -> Option<Self> {
        let mut folders: Vec<&str> = url.path_segments()?.filter(|segment| !segment.is_empty()).collect();
        let file = folders.pop()?;
        folders.retain(|folder| !is_size(folder));
        let name = if !folders.is_empty() && is_size(stem(file)) { String::new() } else { without_size(file) };
        let mut address = Self { folders, name, query: Vec::new() };
        let is_drawn = !file.contains('.') || is_word(&SCRIPTS, file.rsplit('.').next().unwrap_or_default());
        if is_drawn && url.query().is_some() && names_ads(file) {
            return None;
        }
        // Trackers of other sites have parameters of many names.
        let is_drawn = is_drawn && site == Site::Own;
        let pairs = url.query_pairs().map(|(name, value)| (plain(&name), value.into_owned()));
        address.query = pairs.filter(|(name, value)| chooses(name, value, is_drawn)).collect();
        address.query.sort_unstable();
        address.query.dedup();
        Some(address)
    }

    /// The hash by the name and the folder around it.
    fn own(&self) -> u64 {
        self.hash(self.folders.last().copied().unwrap_or_default().as_bytes())
    }

    /// The hash by the whole path.
    fn whole(&self) -> u64 {
        self.hash(self.folders.join("/").as_bytes())
    }

    fn hash(&self, folder: &[u8]) -> u64 {
        let mut hasher = Xxh3::new();
        hasher.update(folder);
        hasher.update(b"/");
        hasher.update(self.name.as_bytes());
        for (name, value) in &self.query {
            for part in [name, value] {
                hasher.update(b"\0");
                hasher.update(part.as_bytes());
            }
        }
        hasher.digest()
    }
}

/// Whether a parameter tells which picture is shown. `is_drawn`: a program draws the picture.
fn chooses(name: &str, value: &str, is_drawn: bool) -> bool {
    let is_choice = is_word(&CHOICES, name);
    !value.is_empty()
        && (is_choice || is_drawn && !is_word(&BESIDE, name) && !is_opaque(value) && !name.starts_with("utm"))
}

/// Whether a value looks like a random number, a time or a key, which may be another one at each visit. It may also
/// look like the URL of a page, which trackers get.
fn is_opaque(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let is_number = digits > 0 && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_plain = value.len() >= 8 && value.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let changes =
        value.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
    let is_page = value.contains("://") || value.starts_with('/') && !value.contains('.');
    is_page || is_number && (digits >= 10 || value.contains('.')) || is_plain && changes >= 3
}

/// Whether a part of an address names advertisements or trackers: `ads2.some.site`, `ad-server`.
fn names_ads(part: &str) -> bool {
    let words = part.split(|c: char| !c.is_ascii_alphanumeric());
    words.map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit())).any(|word| is_word(&ADS, word))
}

/// Whether a folder or the name of a file only tells a size: `large`, `w600`, `300x200`, `640px`.
fn is_size(word: &str) -> bool {
    let is_number = |word: &str| !word.is_empty() && word.len() <= 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    let digits = word.trim_start_matches(['w', 'h', 's', 'W', 'H']);
    is_word(&SIZES, word)
        || is_number(digits) && digits.len() + 1 == word.len() && digits.len() >= 2
        || word
            .strip_suffix("px")
            .or_else(|| word.strip_suffix('w'))
            .is_some_and(|number| is_number(number) && number.len() >= 2)
        || word.split_once('x').is_some_and(|(width, height)| is_number(width) && is_number(height))
}

/// The name of a file without its ending.
fn stem(file: &str) -> &str {
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

/// The name of a file without the size that programs add to it: `7-300x200.jpg` and `220px-7.jpg` are `7.jpg`.
fn without_size(file: &str) -> String {
    let (stem, ending) = file.split_at(stem(file).len());
    let stem = stem.strip_suffix("@2x").unwrap_or(stem);
    let cut = stem.rsplit_once('-').filter(|(rest, size)| !rest.is_empty() && size.contains('x') && is_size(size));
    let stem = cut.map_or(stem, |(rest, _)| rest);
    let cut = stem.split_once('-').filter(|(size, rest)| !rest.is_empty() && size.ends_with("px") && is_size(size));
    format!("{}{ending}", cut.map_or(stem, |(_, rest)| rest))
}

/// The name of a parameter in lower case, without `_` and `-` between its words.
fn plain(name: &str) -> String {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    if plain.is_empty() { name.to_owned() } else { plain.to_ascii_lowercase() }
}

fn is_word(words: &[&str], word: &str) -> bool {
    match word.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => words.binary_search(&word.to_ascii_lowercase().as_str()).is_ok(),
        false => words.binary_search(&word).is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(address: &str) -> Option<Medium> {
        Medium::own(&Url::parse(&format!("http://a.test{address}")).unwrap())
    }

    #[test]
    fn words_are_sorted() {
        for words in [&ADS[..], &SIZES, &SCRIPTS, &CHOICES, &BESIDE] {
            assert!(words.is_sorted(), "{words:?}");
        }
    }

    #[test]
    fn what_only_tells_a_size_or_a_visit_does_not_count() {
        for (one, other) in [
            ("/photos/7/w600/large.jpg", "/pics/7/300x200/thumb.jpg"),
            ("/uploads/bridge-300x200.jpg", "/uploads/bridge.jpg"),
            ("/img/7@2x.jpg", "/img/w1200/7.jpg"),
            ("/a/220px-Bridge.jpg", "/a/Bridge.jpg"),
            ("/a/7.jpg?v=1&r=0.5&w=600", "/a/7.jpg?time=99"),
            ("/a/7.jpg?x=8f3a99ab", "/a/7.jpg"),
            ("/image.php?id=7&w=600&cb=99", "/image.php?rand=0.7&id=7"),
            ("/image?id=7&sid=ab", "/image?id=7&new=0.123456"),
            ("/image?id=7&made=1700000001", "/image?id=7&made=1700000002"),
            ("/image?id=7&on=http://a.test/1", "/image?id=7&on=/album/2"),
            ("/cgi/resize?path=a/7.jpg&w=600", "/cgi/resize?path=a/7.jpg&w=64&q=3"),
        ] {
            assert_eq!(own(one), own(other), "{one} {other}");
        }
    }

    #[test]
    fn what_chooses_a_picture_counts() {
        let all = [
            "/image.php?id=7",
            "/image.php?id=8",
            "/board.php?fen=d41d8cd98f00b204e9800998ecf8427e",
            "/board.php?fen=0cc175b9c0f1b6a831c399e269772661",
            "/map?place=berlin",
            "/map?place=rome",
            "/photos/7/w600/large.jpg",
            "/photos/8/w600/large.jpg",
            "/chart.png?photo_id=7",
            "/chart.png?photo_id=8",
            "/large.jpg",
            "/small.jpg",
        ];
        let mut found: Vec<_> = all.iter().map(|address| format!("{:?}", own(address).unwrap())).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), all.len());
        assert_eq!(own("/captcha.php?id=7"), None);
        assert_eq!(own("/"), None);
    }

    #[test]
    fn of_another_site_the_whole_path_counts_and_ads_do_not() {
        let away = |address: &str| Medium::away(&Url::parse(address).unwrap());
        assert_ne!(away("https://cdn.test/a/x/7.jpg"), away("https://cdn.test/b/x/7.jpg"));
        assert_eq!(away("https://cdn.test/a/x/7.jpg"), away("https://cdn2.test/a/x/7.jpg?w=3"));
        assert_eq!(away("https://cdn.test/p?dl=one"), away("https://cdn.test/p?dl=two"));
        let Some(Medium::Away { whole, there }) = away("http://a.test/b/a/7.jpg") else { panic!("it counts") };
        assert_eq!(own("/c/a/7.jpg"), Some(Medium::Own(there)));
        assert_ne!(whole, there);
        for ad in [
            "http://ads.test/7.jpg",
            "http://ad3.some.test/7.jpg",
            "http://static.doubleclick.test/7.jpg",
            "http://cdn.test/banners/7.jpg",
            "http://cdn.test/track?id=7",
            "http://cdn.test/pixel.gif",
            "http://192.0.2.1/7.jpg",
        ] {
            assert_eq!(away(ad), None, "{ad}");
        }
    }
}
