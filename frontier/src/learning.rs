//! The frontier and its learned rules: switched on, taught by what was fetched, asked about what they stopped.

use dedup_stage::store::{Result, Session};
use url::Url;

use crate::frontier::Frontier;
use crate::job::Job;
use crate::rules::{Keys, Lesson, RuleId, Rules, Shows};

impl Frontier {
    /// From now on, rules are learned and applied; those in `session` are at once. One in `audits` of the URLs that they stop
    /// is fetched all the same.
    pub fn use_rules(&mut self, keys: Keys, audits: u64, session: &Session) -> Result<()> {
        self.rules = Some(Rules::open(keys, audits, session)?);
        Ok(())
    }

    /// The rules, where they are used.
    pub fn rules(&self) -> Option<&Rules> {
        self.rules.as_ref()
    }

    /// The page of `job` was judged. `content` tells what the page of a row shows. Returns the rules that this withdraws:
    /// what they stopped is to be queued again ([`Via::Released`](crate::Via)).
    pub fn learn(
        &mut self,
        job: &Job,
        lesson: &Lesson<'_>,
        content: Shows<'_>,
        session: &mut Session,
    ) -> Result<Vec<RuleId>> {
        match &mut self.rules {
            Some(rules) => rules.learn(lesson, job.stop.as_deref(), content, session),
            None => Ok(Vec::new()),
        }
    }

    /// Whether what stands for a class was fetched, or is queued. If not, the URLs that were stopped for its sake are to be
    /// queued again.
    pub fn is_kept(&self, class: u64, session: &Session) -> Result<bool> {
        self.rules.as_ref().map_or(Ok(true), |rules| rules.is_kept(class, &self.seen, session))
    }

    /// Whether the rules say that a URL shows what a page that was fetched shows.
    pub fn is_covered(&self, url: &Url, hash: u64, session: &Session) -> Result<bool> {
        self.rules.as_ref().map_or(Ok(false), |rules| rules.is_covered(url, hash, &self.seen, session))
    }

    /// From now on, no rule stops this URL.
    pub fn free(&mut self, hash: u64) {
        if let Some(rules) = &mut self.rules {
            rules.free(hash);
        }
    }

    /// From now on, nothing is stopped but traps.
    pub fn free_all(&mut self) {
        if let Some(rules) = &mut self.rules {
            rules.free_all();
        }
    }

    /// Writes down the counters of rules; to be called before a commit.
    pub fn save_rules(&mut self, session: &mut Session) {
        if let Some(rules) = &mut self.rules {
            rules.save(session);
        }
    }
}
