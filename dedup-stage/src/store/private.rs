//! Permissions of the files of a store whose owner alone may read them. fjall makes its files readable for everyone.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Sets the mode of all files in `dir`, and in the folders in it, to 0600.
///
/// # Errors
///
/// The first error of the system. A file that the store removes meanwhile is none.
pub fn close(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let closed = match entry.metadata() {
            Ok(found) if found.is_dir() => close(&entry.path()),
            Ok(found) if found.is_file() => close_file(&entry.path(), &found),
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        closed.or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) })?;
    }
    Ok(())
}

#[cfg(unix)]
fn close_file(path: &Path, found: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut permissions = found.permissions();
    if permissions.mode() & 0o177 == 0 {
        return Ok(());
    }
    permissions.set_mode(0o600);
    fs::set_permissions(path, permissions)
}

/// Other systems have no such modes. Files have the permissions of their folder there.
#[cfg(not(unix))]
fn close_file(_: &Path, _: &Metadata) -> io::Result<()> {
    Ok(())
}
