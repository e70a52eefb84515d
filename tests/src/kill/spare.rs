//! A copy of a crawl, to which the test returns if damage is noticed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::ensure;

use super::files::{copy, log_of};
use crate::power;

/// A copy of a crawl as it was before the first damage to it that was not noticed at once.
#[derive(Debug)]
pub(super) struct Spare<'a> {
    pub(super) dir: &'a Path,
    pub(super) taken: bool,
}

impl Spare<'_> {
    fn path(&self) -> PathBuf {
        self.dir.with_extension("spare")
    }

    pub(super) fn take(&mut self) -> anyhow::Result<()> {
        if !self.taken {
            copy(self.dir, &self.path())?;
            self.taken = true;
        }
        Ok(())
    }

    pub(super) fn restore(&mut self) -> anyhow::Result<()> {
        ensure!(self.taken, "nothing was damaged");
        fs::remove_dir_all(self.dir)?;
        fs::rename(self.path(), self.dir)?;
        self.taken = false;
        power::vouch(self.dir, &log_of(self.dir))?;
        Ok(())
    }
}
