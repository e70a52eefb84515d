//! The output of a program that scores pages. Each line is one score.

use serde::Deserialize;

/// One line of a program's output, or its end.
#[derive(Clone, Debug, PartialEq)]
pub enum ScorerLine {
    /// A score in 0..1, and the question that it answers.
    Score {
        /// The number of the question; `None` for the oldest question.
        id: Option<u64>,
        /// The score.
        score: f32,
    },
    /// A line that is no score.
    Nonsense(String),
    /// The program has closed its stdout. It has ended, or will not answer any more.
    Ended,
}

impl ScorerLine {
    /// The number of bytes of such a line that are shown to users.
    const SHOWN: usize = 80;

    /// Reads one line.
    pub fn read(line: &[u8]) -> Self {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Line {
            Bare(f32),
            Whole { id: Option<u64>, score: f32 },
        }
        let (id, score) = match serde_json::from_slice(line) {
            Ok(Line::Bare(score)) => (None, score),
            Ok(Line::Whole { id, score }) => (id, score),
            Err(_) => return Self::nonsense(line),
        };
        if (0.0..=1.0).contains(&score) { ScorerLine::Score { id, score } } else { Self::nonsense(line) }
    }

    fn nonsense(line: &[u8]) -> Self {
        let text = String::from_utf8_lossy(&line[..line.len().min(Self::SHOWN)]);
        ScorerLine::Nonsense(text.trim_end().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_score_or_nonsense() {
        let score = |id, score| ScorerLine::Score { id, score };
        assert_eq!(ScorerLine::read(b"{\"id\":7,\"score\":0.5}\n"), score(Some(7), 0.5));
        assert_eq!(ScorerLine::read(b"{\"score\":1,\"url\":\"x\"}\n"), score(None, 1.0));
        assert_eq!(ScorerLine::read(b"0.25\r\n"), score(None, 0.25));
        for line in
            ["", "1.5", "-0.1", "NaN", "{\"id\":1}", "loading model", "{\"id\":-1,\"score\":0.5}", "null", "[1]"]
        {
            assert_eq!(ScorerLine::read(line.as_bytes()), ScorerLine::Nonsense(line.to_owned()), "{line}");
        }
        assert_eq!(ScorerLine::read(&[b'x'; 1_000]), ScorerLine::Nonsense("x".repeat(80)));
    }
}
