//! Ten topics and their criterion: a page belongs to a topic if its file is in that section of the documentation. The words
//! are what a reader would type; none was chosen by looking at what helps.

/// A topic.
#[derive(Clone, Copy, Debug)]
pub struct Topic {
    /// Documentation site.
    pub site: &'static str,
    /// What is given to `--topic`.
    pub words: &'static str,
    /// The section: what the paths of its pages begin with.
    pub section: &'static [&'static str],
}

impl Topic {
    /// Whether a page belongs to it.
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
