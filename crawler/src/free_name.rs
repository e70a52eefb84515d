//! Temporary files and directories whose names have the number of the process. A process that was killed may have left
//! such a name behind, and a later process may have its number.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Calls `make` with paths in `folder` until one of them does not exist yet. The names begin with `name`.
pub fn with_free_name<T>(folder: &Path, name: &str, make: impl Fn(PathBuf) -> io::Result<T>) -> io::Result<T> {
    let mut number = 0u32;
    loop {
        match make(folder.join(format!("{name}-{}-{number}", std::process::id()))) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            made => return made,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs::create_dir;

    use super::*;

    #[test]
    fn a_name_that_was_left_behind_is_no_obstacle_and_any_other_error_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let make = |path: PathBuf| create_dir(&path).map(|()| path);
        let made: HashSet<_> = (0..3).map(|_| with_free_name(folder.path(), "test", make).unwrap()).collect();
        assert_eq!(made.len(), 3);
        let missing = with_free_name(&folder.path().join("missing"), "test", make);
        assert_eq!(missing.unwrap_err().kind(), ErrorKind::NotFound);
    }
}
