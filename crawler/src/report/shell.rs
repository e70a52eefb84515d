//! The frame of a page that stands alone. It has its style and script inline. Its Content-Security-Policy allows only
//! these two, by their hashes. So nothing in the page can load, run or send anything else.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::html::Text;

/// A whole document.
#[derive(Clone, Copy, Debug)]
pub struct Shell<'a> {
    /// The title, as text.
    pub title: &'a str,
    /// The style sheet.
    pub style: &'a str,
    /// The script. It runs when everything before it was read.
    pub script: &'a str,
    /// The servers to which the script may connect, as in a Content-Security-Policy: `'none'` or `'self'`.
    pub connect: &'a str,
    /// The content of `body`, as HTML.
    pub body: &'a str,
}

/// The icon: a ring that is not quite closed. It stands for a page that was seen before.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M13 4a6 6 0 1 0 1 4' fill='none' stroke='%230b6e75' stroke-width='2.5'/%3E%3Ccircle cx='8' cy='8' r='2' fill='%230b6e75'/%3E%3C/svg%3E";

impl Shell<'_> {
    /// The policy.
    pub fn policy(&self) -> String {
        let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
        format!(
            "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; connect-src {}; \
             base-uri 'none'; form-action 'none'",
            hash(self.style),
            hash(self.script),
            self.connect
        )
    }

    /// The document.
    pub fn html(&self) -> String {
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <link rel=\"icon\" href=\"{ICON}\">\n<title>{}</title>\n<style>{}</style>\n</head>\n\
             <body>\n{}\n<script>{}</script>\n</body>\n</html>\n",
            // The policy contains single quotes, so the attribute has double quotes.
            self.policy(),
            Text(self.title),
            self.style,
            self.body,
            self.script
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_names_what_stands_in_the_page_and_nothing_else() {
        let shell = Shell { title: "</title><b>", style: "a{}", script: "1", connect: "'none'", body: "x" };
        let html = shell.html();
        assert!(html.contains("<title>&lt;/title&gt;&lt;b&gt;</title>"));
        // printf 1 | openssl dgst -sha256 -binary | base64
        assert!(html.contains("script-src 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='"));
        assert!(!html.contains("unsafe"));
    }
}
