//! Renders a node as HTML. Each site has two templates, one of them for printing.

use super::address::{Address, Node};
use super::links::{Link, Role};
use super::prose::{Voice, push_number};
use super::rng::{Rng, derive};
use super::site::{Kind, Site};
use super::{Answer, Web};

const HTML: &str = "text/html; charset=utf-8";

/// The elements that have a rule in the style sheet.
const STYLED: [&str; 16] = [
    "a",
    "aside",
    "blockquote",
    "body",
    "em",
    "figure",
    "footer",
    "h1",
    "h2",
    "img",
    "li",
    "main",
    "nav",
    "p",
    "table",
    "ul",
];

/// The number of bytes of a page that are not its text: head, navigation, links.
const FRAME: usize = 5_600;

impl Web {
    pub(super) fn render(&self, at: Address, target: &str) -> Answer {
        let site = self.site(at.host);
        let answer = |status, body| Answer { status, content_type: HTML, location: None, body, delay: site.delay };
        let redirect = |status, node| {
            let location = Some(format!("http://{}{}", self.authority(at.host), site.path(node, None)));
            Answer { location, ..answer(status, String::from("<html><body>Moved.</body></html>\n")) }
        };
        match at.node {
            Node::Hop { left: 0, article } => redirect(302, Node::Article(article)),
            Node::Hop { left, article } => redirect(301, Node::Hop { left: left - 1, article }),
            Node::Loop(half) => redirect(302, Node::Loop(1 - half)),
            Node::Missing(_) if !site.soft_404 => answer(
                404,
                String::from("<html><head><title>404</title></head><body><h1>Not Found</h1></body></html>\n"),
            ),
            _ => answer(200, self.page(site, at, target)),
        }
    }

    fn page(&self, site: &Site, at: Address, target: &str) -> String {
        let links = self.links(at);
        let printed = at.zone.is_some_and(|zone| site.zones[zone].kind == Kind::Print);
        let mut page = Page {
            web: self,
            site,
            at,
            path: target,
            style: if printed { String::new() } else { class(site) },
            out: String::with_capacity(self.options.page_bytes * 3 / 2),
        };
        let title = page.title();
        page.head(&title, printed);
        if !printed {
            page.navigation(&links);
            if site.volatile {
                page.advertisement();
            }
        }
        page.out.push_str("<h1>");
        page.out.push_str(&title);
        page.out.push_str("</h1>\n");
        page.text(&links);
        page.foot(&links, printed);
        page.out
    }
}

/// The class name of a site. It makes the templates of sites differ.
fn class(site: &Site) -> String {
    let mut name = String::new();
    super::prose::coin(derive(site.seed, &[7]), &mut name);
    name
}

struct Page<'a> {
    web: &'a Web,
    site: &'a Site,
    at: Address,
    path: &'a str,
    /// The class of all elements; empty on printed pages.
    style: String,
    out: String,
}

impl Page<'_> {
    fn title(&self) -> String {
        match self.at.node {
            Node::Article(article) => self.site.title(article),
            // The title is equal on all pages of a list.
            Node::List { section, .. } => format!("All of {}", self.site.sections[section as usize]),
            Node::Month(month) => format!("Month {:02} of {}", month % 12 + 1, month / 12),
            Node::Private(number) => format!("Draft {number}"),
            Node::Product(product) => self.own_title(13, product),
            Node::Shelf { .. } => "All our goods".into(),
            Node::Post { post, .. } => self.own_title(14, post),
            Node::Board(_) => "All topics".into(),
            Node::Missing(_) | Node::Hop { .. } | Node::Loop(_) => "We are sorry".into(),
        }
    }

    /// The template of an article, if the web has several.
    fn template(&self, article: u32) -> Option<u32> {
        self.web.options.features.templates.map(|templates| article % templates)
    }

    fn own_title(&self, what: u64, which: u32) -> String {
        let mut title = String::new();
        self.voice(what, which, 1).title(&mut title);
        title
    }

    /// The voice of a page that is no article.
    fn voice(&self, what: u64, which: u32, part: u64) -> Voice {
        Voice::new(derive(self.site.seed, &[what]), derive(self.site.seed, &[what, u64::from(which)]), part)
    }

    fn head(&mut self, title: &str, printed: bool) {
        let out = &mut self.out;
        out.push_str("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
        out.push_str(title);
        if printed {
            out.push_str("</title>\n<style>body { font: 11pt serif; margin: 2cm }</style>\n</head>\n<body>\n");
            return;
        }
        out.push_str("</title>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>\n");
        for (index, part) in STYLED.iter().enumerate() {
            for (state, property) in
                [("", "padding: 4px 8px; margin: 0 auto; max-width: "), (":hover", "outline-offset: ")]
            {
                out.push_str(part);
                out.push('.');
                out.push_str(&self.style);
                out.push_str(state);
                out.push_str(" { ");
                out.push_str(property);
                push_number(300 + 7 * index as u64, out);
                out.push_str("px; line-height: 1.5 }\n");
            }
        }
        out.push_str("</style>\n<script>\nwindow.dataLayer = window.dataLayer || [];\nfunction track(name, value) { ");
        out.push_str("window.dataLayer.push({ event: name, value: value, at: Date.now() }); }\n");
        out.push_str(
            "document.addEventListener(\"click\", function (e) { track(\"click\", e.target.tagName); });\n</script>\n",
        );
        out.push_str("</head>\n<body class=\"");
        out.push_str(&self.style);
        out.push_str("\">\n");
    }

    fn navigation(&mut self, links: &[Link]) {
        self.open("nav");
        self.open("ul");
        for link in links.iter().filter(|link| link.role == Role::Navigation) {
            self.open("li");
            self.anchor(link);
            self.out.push_str("</li>\n");
        }
        self.out.push_str("</ul>\n</nav>\n");
        self.open("main");
    }

    /// Writes the parts that differ between URLs.
    fn advertisement(&mut self) {
        let mut rng = Rng::new(self.site.seed, &[8]);
        self.path.bytes().for_each(|byte| rng = Rng::new(rng.next(), &[u64::from(byte)]));
        let own = derive(rng.next(), &[self.at.host as u64]);
        self.open("aside");
        Voice::new(own, own, 0).sentence(&mut self.out);
        self.out.push_str(" Read ");
        push_number(own % 90_000, &mut self.out);
        self.out.push_str(" times. Served 2026-");
        for (unit, separator) in [(12, '-'), (28, 'T'), (24, ':'), (60, ':'), (60, 'Z')] {
            let value = rng.below(unit) + usize::from(separator == '-' || separator == 'T');
            if value < 10 {
                self.out.push('0');
            }
            push_number(value as u64, &mut self.out);
            self.out.push(separator);
        }
        self.out.push_str(".</aside>\n");
    }

    fn text(&mut self, links: &[Link]) {
        let mut stories = links.iter().filter(|link| link.role == Role::Story);
        match self.at.node {
            Node::Article(article) => {
                let mut voice = self.site.voice(article, 2);
                // Only the prose counts, so that the text ends at the same word in both templates.
                let room = self.web.options.page_bytes.saturating_sub(FRAME).max(self.web.options.page_bytes / 5);
                let wanted = room * (60 + voice.below(81)) / 100;
                let mut written = 0;
                while written < wanted {
                    written += self.paragraph(&mut voice, stories.next());
                }
                if let Some(template) = self.template(article) {
                    (0..4).for_each(|part| self.paragraphs(self.voice(17, template, part)));
                }
            }
            // The words of all pages of such a kind are equal: lists and months differ in their links, and missing
            // pages do not differ.
            Node::List { section, .. } => self.same_words(9, u64::from(section)),
            Node::Month(_) => self.same_words(10, 0),
            Node::Private(number) => self.same_words(11, u64::from(number)),
            Node::Product(product) => self.paragraphs(self.voice(13, product, 2)),
            Node::Post { post, .. } => self.paragraphs(self.voice(14, post, 2)),
            Node::Shelf { .. } => self.same_words(15, 0),
            Node::Board(_) => self.same_words(16, 0),
            Node::Missing(_) | Node::Hop { .. } | Node::Loop(_) => self.same_words(12, 0),
        }
        self.open("ul");
        for link in stories {
            self.open("li");
            self.anchor(link);
            self.out.push_str("</li>\n");
        }
        self.out.push_str("</ul>\n");
    }

    fn same_words(&mut self, what: u64, which: u64) {
        let own = derive(self.site.seed, &[what, which]);
        self.paragraphs(Voice::new(own, own, 0));
    }

    fn paragraphs(&mut self, mut voice: Voice) {
        for _ in 0..4 {
            self.paragraph(&mut voice, None);
        }
    }

    /// Writes one paragraph, with the link in its middle. Some have a heading before them, and some are quotations.
    /// Returns the length of its sentences.
    fn paragraph(&mut self, voice: &mut Voice, link: Option<&Link>) -> usize {
        let quoted = match voice.below(8) {
            0 => {
                self.open("h2");
                voice.title(&mut self.out);
                self.out.push_str("</h2>\n");
                false
            }
            other => other == 1,
        };
        self.open(if quoted { "blockquote" } else { "p" });
        let mut written = 0;
        for index in 0..3 + voice.below(4) {
            if index > 0 {
                self.out.push(' ');
            }
            let start = self.out.len();
            voice.sentence(&mut self.out);
            written += self.out.len() - start;
            if let Some(link) = link.filter(|_| index == 1) {
                self.out.push_str(" See <em>");
                self.anchor(link);
                self.out.push_str("</em>.");
            }
        }
        self.out.push_str(if quoted { "</blockquote>\n" } else { "</p>\n" });
        written
    }

    fn foot(&mut self, links: &[Link], printed: bool) {
        if !printed {
            self.out.push_str("</main>\n");
        }
        self.open("footer");
        for link in links.iter().filter(|link| matches!(link.role, Role::Copy | Role::Elsewhere)) {
            self.anchor(link);
            self.out.push('\n');
        }
        self.out.push_str("</footer>\n</body>\n</html>\n");
    }

    fn open(&mut self, element: &str) {
        self.out.push('<');
        self.out.push_str(element);
        if !self.style.is_empty() {
            self.out.push_str(" class=\"");
            self.out.push_str(&self.style);
            self.out.push('"');
        }
        self.out.push('>');
    }

    fn anchor(&mut self, link: &Link) {
        self.open("a");
        self.out.pop();
        self.out.push_str(" href=\"");
        for (index, part) in self.web.spelling(self.at, self.path, link).split('&').enumerate() {
            if index > 0 {
                self.out.push_str("&amp;");
            }
            self.out.push_str(part);
        }
        self.out.push_str("\">");
        let site = self.web.site(link.to.host);
        match (link.role, link.to.node) {
            (Role::Copy, _) => self.out.push_str("Other version"),
            (_, Node::Article(0)) => self.out.push_str("Home"),
            // The links of a list have the same text on each of its pages.
            (_, Node::Product(_) | Node::Post { .. }) => self.out.push_str("Read more"),
            (Role::Navigation, Node::Shelf { .. }) => self.out.push_str("Shop"),
            (_, Node::Shelf { page: 0, .. }) => self.out.push_str("Only these"),
            (_, Node::Shelf { .. }) => self.out.push_str("Next"),
            (_, Node::Board(_)) => self.out.push_str("Topics"),
            (Role::Story, Node::Article(_)) if matches!(self.at.node, Node::List { .. }) => {
                self.out.push_str("Read more")
            }
            (Role::Navigation, Node::Article(article)) => {
                self.out.push_str(site.sections[site.section(article) as usize])
            }
            (_, Node::Article(article)) => self.out.push_str(&site.title(article)),
            (_, Node::List { section, .. }) => self.out.push_str(site.sections[section as usize]),
            (_, Node::Month(_)) => self.out.push_str("Calendar"),
            (_, Node::Hop { .. } | Node::Loop(_)) => self.out.push_str("Recommended"),
            (_, Node::Private(_) | Node::Missing(_)) => self.out.push_str("More on this"),
        }
        self.out.push_str("</a>");
    }
}
