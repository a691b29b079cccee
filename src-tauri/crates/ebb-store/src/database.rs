//! The SQLite file: how it is opened, changed as a whole or not at all, and held to its quota.

use std::{
    fs::{self, OpenOptions},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior, config::DbConfig};

use crate::{
    Error,
    error::Fault,
    schema::{self, Kind},
};

/// How long a write waits for another program's.
const PATIENCE: Duration = Duration::from_secs(5);
/// Five vectors of 384 numbers fit into such a page, and two into one of 4 KiB.
const PAGE_BYTES: i64 = 8 << 10;
/// What SQLite may keep of the file in memory; it is negative where it is in KiB.
const CACHE_KIB: i64 = -(8 << 10);
/// The write-ahead log is cut back to this when its content is in the file.
const LOG_BYTES: i64 = 4 << 20;
/// Free pages go back to the disk once they are this much, and a quarter of the file.
const SLACK_BYTES: u64 = 4 << 20;

#[derive(Debug)]
pub(crate) struct Database {
    connection: Connection,
    path: PathBuf,
    quota_bytes: u64,
}

impl Database {
    pub(crate) fn open(path: &Path, quota_bytes: u64) -> Result<Self, Error> {
        // SQLite would take a path that begins with `file:` for a URI.
        let absolute = std::path::absolute(path).and_then(|path| private(&path).map(|()| path));
        let path = absolute.map_err(|source| Error::File { path: path.to_owned(), source })?;
        let told = |fault| told(&path, fault);
        let mut connection = connect(&path).map_err(|error| told(error.into()))?;
        prepare(&mut connection, &path).map_err(told)?;
        Ok(Self { connection, path, quota_bytes })
    }

    pub(crate) fn set_quota(&mut self, quota_bytes: u64) {
        self.quota_bytes = quota_bytes;
    }

    /// The store's file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads one state of the file, however many statements it takes.
    pub(crate) fn read<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, Error> {
        let read = (|| {
            let transaction = self.connection.transaction()?;
            work(&transaction)
        })();
        read.map_err(|fault| told(&self.path, fault))
    }

    /// Changes the file as `work` says, or not at all. The quota is not asked: removing must work when it is used up.
    pub(crate) fn shrink<T>(
        &mut self,
        work: impl FnOnce(&Transaction) -> Result<T, Fault>,
    ) -> Result<T, Error> {
        let done = self.transact(work).map_err(|fault| told(&self.path, fault));
        self.give_back_pages();
        done
    }

    /// Changes the file as `work` says, or not at all where it does not fit into the quota. `needed_bytes` says at least how
    /// much it will take: what cannot fit is not even tried.
    pub(crate) fn grow<T>(
        &mut self,
        needed_bytes: u64,
        work: impl FnOnce(&Transaction) -> Result<T, Fault>,
    ) -> Result<T, Error> {
        let quota_bytes = self.quota_bytes;
        let grown = self.transact(|transaction| {
            let used_bytes = used_bytes(transaction)?;
            let full = |needed_bytes| Error::Quota { quota_bytes, used_bytes, needed_bytes };
            if used_bytes.saturating_add(needed_bytes) > quota_bytes && needed_bytes > 0 {
                return Err(full(needed_bytes).into());
            }
            let done = work(transaction)?;
            // Measured, not reckoned: the full-text index takes what the texts make it take.
            let then_bytes = self::used_bytes(transaction)?;
            if then_bytes > quota_bytes && then_bytes > used_bytes {
                return Err(full(then_bytes - used_bytes).into());
            }
            Ok(done)
        });
        grown.map_err(|fault| told(&self.path, fault))
    }

    fn transact<T>(&mut self, work: impl FnOnce(&Transaction) -> Result<T, Fault>) -> Result<T, Fault> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    /// Gives free pages back to the disk where they are many. Only room is at stake, hence no error.
    fn give_back_pages(&self) {
        let give_back = || -> rusqlite::Result<()> {
            let (free, all) = (
                number(&self.connection, "main.freelist_count")?,
                number(&self.connection, "main.page_count")?,
            );
            if free * PAGE_BYTES.unsigned_abs() >= SLACK_BYTES && free >= all / 4 {
                // One page a step.
                let mut vacuum = self.connection.prepare("PRAGMA main.incremental_vacuum")?;
                let mut freed = vacuum.query([])?;
                while freed.next()?.is_some() {}
            }
            Ok(())
        };
        if let Err(error) = give_back() {
            tracing::warn!(store = %self.path.display(), %error, "free pages were not given back");
        }
    }

    /// Gives back what SQLite keeps of the file in memory.
    pub(crate) fn release_memory(&self) {
        self.connection.flush_prepared_statement_cache();
        if let Err(error) = self.connection.execute_batch("PRAGMA shrink_memory") {
            tracing::warn!(store = %self.path.display(), %error, "SQLite's memory was not given back");
        }
    }

    /// Bytes of the file and of its log.
    pub(crate) fn bytes_on_disk(&self) -> u64 {
        let beside = |suffix: &str| {
            let mut name = self.path.clone().into_os_string();
            name.push(suffix);
            fs::metadata(name).map_or(0, |file| file.len())
        };
        beside("") + beside("-wal")
    }
}

/// Makes the file where there is none, for its owner's eyes alone: it holds texts of documents.
fn private(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other.map(drop),
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    // A file that was tampered with must not run what its schema says.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(connection)
}

/// Sees that the file is a store, makes it one where it is empty or of an older Ebb, and sets how this connection uses it.
fn prepare(connection: &mut Connection, path: &Path) -> Result<(), Fault> {
    match schema::kind(connection)? {
        Kind::Store | Kind::Older => {}
        Kind::Empty => {
            connection.pragma_update(None, "page_size", PAGE_BYTES)?;
            connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        }
        Kind::Newer(found) => {
            return Err(Error::Newer { path: path.to_owned(), found, known: schema::VERSION }.into());
        }
        Kind::Foreign => return Err(Error::Foreign { path: path.to_owned() }.into()),
    }
    // Where a file system has no shared memory, SQLite stays with its rollback journal, which needs more care on disk.
    let journal: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    connection.pragma_update(None, "synchronous", if journal == "wal" { "NORMAL" } else { "FULL" })?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
    connection.pragma_update(None, "cache_size", CACHE_KIB)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    schema::create(&transaction)?;
    transaction.commit()?;
    Ok(schema::create_staged(connection)?)
}

/// Bytes that hold something: of the file, and of what is staged.
fn used_bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let pages = |schema: &str| -> rusqlite::Result<u64> {
        let [all, free, size] = ["page_count", "freelist_count", "page_size"]
            .map(|name| number(connection, &format!("{schema}.{name}")));
        Ok((all? - free?) * size?)
    };
    Ok(pages("main")? + pages("temp")?)
}

/// The value of a pragma that is a number.
fn number(connection: &Connection, pragma: &str) -> rusqlite::Result<u64> {
    connection.prepare_cached(&format!("PRAGMA {pragma}"))?.query_row([], |row| row.get(0))
}

/// An error with the file's name, in our words where there are better ones than SQLite's.
fn told(path: &Path, fault: Fault) -> Error {
    let source = match fault {
        Fault::Told(error) => return error,
        Fault::Sqlite(source) => source,
    };
    let path = path.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => Error::Foreign { path },
        Some(ErrorCode::DatabaseCorrupt) => Error::Damaged { path, source },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::InUse { path },
        Some(ErrorCode::DiskFull) => Error::DiskFull { path },
        _ => Error::Storage { path, source },
    }
}
