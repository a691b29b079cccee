//! Files that are written whole or not at all: a full disk, a crash or a power cut leaves the old content.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use ebb_core::{Code, Failure};

/// Writes `content` to `path`, readable by the user alone; folders are made where they are missing.
///
/// # Errors
/// [`Code::Storage`], naming the path. The old file is then as it was.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new("."));
    make_private_folder(folder)?;
    let beside = temporary_name(path);
    let written = write_and_sync(&beside, content).and_then(|()| fs::rename(&beside, path));
    if let Err(error) = written {
        // What is half written is of no use; that it cannot be removed either changes nothing.
        let _ = fs::remove_file(&beside);
        return Err(refused("write", path, &error));
    }
    sync_folder(folder);
    Ok(())
}

/// Makes a folder, and those above it, that only the user can enter. One that exists is left as it is.
///
/// # Errors
/// [`Code::Storage`], naming the path.
pub(crate) fn make_private_folder(folder: &Path) -> Result<(), Failure> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| refused("make the folder", folder, &error))
}

/// The failure for what the file system refused.
pub(crate) fn refused(what: &str, path: &Path, error: &io::Error) -> Failure {
    let hint = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some disk space, then try again",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "give yourself write permission there, or set EBB_HOME to a folder that you may write to"
        }
        _ => "see that the path exists and can be used, or set EBB_HOME to another folder",
    };
    Failure::new(Code::Storage, format!("cannot {what} {}: {error}", path.display()))
        .hint(hint)
        .param(path.display().to_string())
}

/// A name of its own for each process, so that two never write into one file.
fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}

fn write_and_sync(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = create_private(path)?;
    file.write_all(content)?;
    file.sync_all()
}

fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Makes the rename itself durable. Not every file system can, and the content is safe without it.
fn sync_folder(folder: &Path) {
    if cfg!(unix) {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_private_and_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Ordner mit Ümlaut").join("state.json");
        write(&path, b"a long first content").unwrap();
        write(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no temporary file is left");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
        }
    }

    #[test]
    fn a_path_below_a_file_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "kept").unwrap();
        let failure = write(&file.join("state.json"), b"x").unwrap_err();
        assert_eq!(failure.code, Code::Storage);
        assert!(failure.message.contains(&file.display().to_string()), "{failure}");
        assert_eq!(fs::read(&file).unwrap(), b"kept");
    }

    /// The temporary file stands on a device without room, as on a full disk: the old content stays.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_leaves_the_old_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("models.json");
        write(&path, b"old").unwrap();
        std::os::unix::fs::symlink("/dev/full", temporary_name(&path)).unwrap();
        let failure = write(&path, b"new").unwrap_err();
        assert_eq!(failure.code, Code::Storage);
        assert!(failure.message.contains("models.json"), "{failure}");
        assert!(failure.hint.unwrap().contains("disk space"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }
}
