//! A matrix that is written while its rows are still being made.

use std::{
    io::{self, BufWriter, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use ebb_core::DType;
use tempfile::NamedTempFile;

use super::header;

/// A `.npy` file of float32 rows. It gets its name, and how many rows it has, at the end: a run that fails leaves nothing.
pub(crate) struct VectorsFile {
    file: BufWriter<NamedTempFile>,
    path: PathBuf,
    header_bytes: usize,
    rows: u64,
    dimensions: u64,
}

impl VectorsFile {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".ebb-").suffix(".part");
        #[cfg(unix)]
        {
            // As any new file, not as a secret one.
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut file = BufWriter::new(builder.tempfile_in(folder.unwrap_or(Path::new(".")))?);
        // Room for the largest numbers that may come to stand here.
        let room = header::written(DType::Float32, &[u64::MAX, u64::MAX]);
        file.write_all(&room)?;
        Ok(Self { file, path: path.to_owned(), header_bytes: room.len(), rows: 0, dimensions: 0 })
    }

    /// Adds rows.
    pub(crate) fn push(&mut self, values: &[f32], dimensions: u32) -> io::Result<()> {
        self.dimensions = u64::from(dimensions);
        self.rows += values.len() as u64 / self.dimensions.max(1);
        for value in values {
            self.file.write_all(&value.to_le_bytes())?;
        }
        Ok(())
    }

    /// Puts the file in its place.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        let header = header::written(DType::Float32, &[self.rows, self.dimensions]);
        self.file.write_all(&header::padded(header, self.header_bytes))?;
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npy::Array;

    #[test]
    fn rows_that_came_in_pieces_are_one_array() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ü v.npy");
        let mut file = VectorsFile::create(&path).unwrap();
        file.push(&[1.0, 2.0], 2).unwrap();
        file.push(&[3.0, 4.0, 5.0, 6.0], 2).unwrap();
        assert!(!path.exists());
        file.finish().unwrap();
        let array = Array::parse(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!((array.dtype, array.shape), (DType::Float32, vec![3, 2]));
        assert_eq!(array.data, [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0].map(f32::to_le_bytes).concat());
    }

    #[test]
    fn a_run_that_fails_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        drop(VectorsFile::create(&folder.path().join("v.npy")).unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(VectorsFile::create(&folder.path().join("missing").join("v.npy")).is_err());
    }
}
