//! Ten topics. A page belongs to a topic if its file is in the section of the documentation about it. The words of a
//! topic are what a reader would type; none was chosen because it gives good results.

/// A topic.
#[derive(Clone, Copy, Debug)]
pub struct Topic {
    /// The documentation site.
    pub site: &'static str,
    /// The words that are given to `--topic`.
    pub words: &'static str,
    /// The section: the beginnings of the paths of its pages.
    pub section: &'static [&'static str],
}

impl Topic {
    /// Whether a page belongs to the topic.
    pub fn has(&self, path: &str) -> bool {
        self.section.iter().any(|prefix| path.starts_with(prefix))
    }
}

/// The topics.
pub const TOPICS: [Topic; 10] = [
    Topic { site: "postgresql-17", words: "ecpg embedded SQL in C programs", section: &["ecpg"] },
    Topic { site: "postgresql-17", words: "libpq C library client connection", section: &["libpq"] },
    Topic {
        site: "postgresql-17",
        words: "PL/pgSQL PL/Tcl PL/Perl PL/Python procedural language functions",
        section: &["pl"],
    },
    Topic { site: "postgresql-17", words: "information schema views", section: &["infoschema", "information-schema"] },
    Topic { site: "postgresql-17", words: "system catalogs", section: &["catalog"] },
    Topic {
        site: "postgresql-17",
        words: "write-ahead log, replication, logical decoding, streaming standby",
        section: &[
            "wal",
            "logical",
            "replication",
            "warm-standby",
            "hot-standby",
            "protocol-logical",
            "protocol-replication",
        ],
    },
    Topic { site: "python-3.13", words: "C API objects reference counting", section: &["c-api/"] },
    Topic { site: "python-3.13", words: "asyncio coroutines tasks event loop", section: &["library/asyncio"] },
    Topic {
        site: "python-3.13",
        words: "email messages MIME",
        section: &["library/email", "library/mailbox", "library/smtplib"],
    },
    Topic { site: "python-3.13", words: "what's new in Python, changelog", section: &["whatsnew/"] },
];
