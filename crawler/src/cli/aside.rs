//! A file that is written under another name, and gets its own name when it is complete. If writing fails, the old file
//! is still there.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// A file that is being written. If it is dropped before its end, it is deleted.
#[derive(Debug)]
pub(super) struct Aside {
    /// The path that the file gets at the end.
    path: PathBuf,
    /// The path of the unfinished file; `None` if nothing must be deleted.
    unfinished: Option<PathBuf>,
}

impl Aside {
    /// Begins a file that will replace the one at `path`. If there is no plain file at `path` (but a pipe or a device),
    /// it is written directly.
    pub fn create(path: &Path) -> io::Result<(File, Self)> {
        // A symbolic link stays. The file to which it leads is replaced.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if std::fs::metadata(&path).is_ok_and(|data| !data.is_file()) {
            let file = File::options().write(true).open(&path)?;
            return Ok((file, Self { path, unfinished: None }));
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let unfinished = path.with_file_name(name);
        let file = File::create(&unfinished)?;
        Ok((file, Self { path, unfinished: Some(unfinished) }))
    }

    /// The path at which the file is written now.
    pub fn path(&self) -> &Path {
        self.unfinished.as_deref().unwrap_or(&self.path)
    }

    /// Gives the complete file its name.
    pub fn finish(mut self) -> anyhow::Result<()> {
        match self.unfinished.take() {
            Some(unfinished) => {
                std::fs::rename(unfinished, &self.path).with_context(|| self.path.display().to_string())
            }
            None => Ok(()),
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if let Some(unfinished) = &self.unfinished {
            // If this fails, nothing is said: the user must see the error that ended the writing.
            let _ = std::fs::remove_file(unfinished);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_is_replaced_when_the_new_one_is_whole_and_not_before() {
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("out"), dir.path().join("link"));
        let files = || std::fs::read_dir(dir.path()).unwrap().count();
        let write = |at: &Path, text: &str| {
            let (mut file, aside) = Aside::create(at).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            aside
        };
        drop(write(&path, "half"));
        assert_eq!(files(), 0, "who fails leaves nothing");
        write(&path, "first").finish().unwrap();
        drop(write(&path, "half"));
        assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), files()), ("first", 1));
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write(&link, "second").finish().unwrap();
        assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), files()), ("second", 2));
        write(Path::new("/dev/null"), "away").finish().unwrap();
        assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    }
}
