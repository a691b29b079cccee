//! A plugin's log: its own lines and the host's about it, in memory and on disk, both bounded.

use std::{
    collections::VecDeque,
    io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use ebb_core::operations::{LogLevel, PluginLogLine};
use fs_err as fs;
use tokio::sync::broadcast;

use crate::grants::now_ms;

/// Longest line; what comes after is cut off.
const LINE_BYTES: usize = 4 << 10;

/// Lines that a plugin may write in a second; more are counted and dropped.
const LINES_PER_S: u32 = 200;

/// Lines kept in memory.
const KEPT: usize = 1_000;

/// Lines that a slow reader may lag behind before it misses some.
const BACKLOG: usize = 256;

const FILE: &str = "log.jsonl";

/// The file before the one that is written.
const OLDER: &str = "log.1.jsonl";

/// Most of a file that is read: what is written is bounded, what somebody put in its place may not be.
const MOST_READ_BYTES: u64 = 32 << 20;

/// A plugin's log. Cheap to clone; all clones are the same log.
#[derive(Debug, Clone)]
pub struct Log(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    plugin: String,
    folder: PathBuf,
    /// Of both files together.
    most_bytes: AtomicU64,
    sender: broadcast::Sender<PluginLogLine>,
    book: Mutex<Book>,
}

#[derive(Debug)]
struct Book {
    lines: VecDeque<PluginLogLine>,
    last_seq: u64,
    /// Made with the first line.
    file: Option<fs::File>,
    file_bytes: u64,
    /// It was told that the disk refuses.
    told: bool,
    second: Instant,
    in_second: u32,
    dropped: u64,
}

/// What a line is about.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct About<'a> {
    /// The call's number.
    pub(crate) request: u64,
    /// The model.
    pub(crate) model: Option<&'a str>,
}

impl Log {
    /// The log in this folder, with the lines that are there already. A line that cannot be read is left out.
    pub(crate) fn open(plugin: &str, folder: &Path, most_bytes: u64) -> Self {
        let mut lines = VecDeque::new();
        for name in [OLDER, FILE] {
            read_into(&mut lines, &folder.join(name));
        }
        let last_seq = lines.back().map_or(0, |line: &PluginLogLine| line.seq);
        let file_bytes = fs::metadata(folder.join(FILE)).map_or(0, |about| about.len());
        let book = Book {
            lines,
            last_seq,
            file: None,
            file_bytes,
            told: false,
            second: Instant::now(),
            in_second: 0,
            dropped: 0,
        };
        Self(Arc::new(Inner {
            plugin: plugin.to_owned(),
            folder: folder.to_owned(),
            most_bytes: AtomicU64::new(most_bytes),
            sender: broadcast::channel(BACKLOG).0,
            book: Mutex::new(book),
        }))
    }

    /// The last `count` lines, oldest first.
    pub fn tail(&self, count: usize) -> Vec<PluginLogLine> {
        let book = self.book();
        let skip = book.lines.len().saturating_sub(count);
        book.lines.iter().skip(skip).cloned().collect()
    }

    /// Lines from now on.
    pub fn follow(&self) -> broadcast::Receiver<PluginLogLine> {
        self.0.sender.subscribe()
    }

    /// It may hold so much on disk from now on.
    pub(crate) fn set_most_bytes(&self, most_bytes: u64) {
        self.0.most_bytes.store(most_bytes, Ordering::Relaxed);
    }

    /// The number of the last call that has a line.
    pub(crate) fn last_request(&self) -> u64 {
        self.book().lines.iter().map(|line| line.request).max().unwrap_or(0)
    }

    /// A line of the plugin's own; where there are too many, it is dropped and counted.
    pub(crate) fn line(&self, level: LogLevel, about: About<'_>, message: &str) {
        self.counted(level, about, false, message);
    }

    /// A line of the host's on what came of a call of the plugin's. It makes as many of those as it likes: they count as its
    /// own lines.
    pub(crate) fn on_call(&self, level: LogLevel, about: About<'_>, message: &str) {
        self.counted(level, about, true, message);
    }

    /// A call ended: says how many lines were dropped, if any were.
    pub(crate) fn call_ended(&self, about: About<'_>) {
        self.tell_dropped(&mut self.book(), about);
    }

    fn counted(&self, level: LogLevel, about: About<'_>, from_host: bool, message: &str) {
        let mut book = self.book();
        if book.second.elapsed() >= Duration::from_secs(1) {
            book.second = Instant::now();
            book.in_second = 0;
            self.tell_dropped(&mut book, about);
        }
        book.in_second += 1;
        if book.in_second > LINES_PER_S {
            book.dropped += 1;
            // The gap in the numbers shows where.
            book.last_seq += 1;
            return;
        }
        self.append(&mut book, level, about, from_host, message);
    }

    /// A line of the host's about the plugin. It is never dropped.
    pub(crate) fn host_line(&self, level: LogLevel, about: About<'_>, message: &str) {
        let mut book = self.book();
        self.tell_dropped(&mut book, about);
        self.append(&mut book, level, about, true, message);
    }

    /// Says how many lines were dropped, if any were.
    fn tell_dropped(&self, book: &mut Book, about: About<'_>) {
        let dropped = std::mem::take(&mut book.dropped);
        if dropped > 0 {
            let message = format!("{dropped} lines were dropped: more than {LINES_PER_S} came in a second");
            self.append(book, LogLevel::Warn, about, true, &message);
        }
    }

    fn append(&self, book: &mut Book, level: LogLevel, about: About<'_>, from_host: bool, message: &str) {
        book.last_seq += 1;
        let line = PluginLogLine {
            seq: book.last_seq,
            time_ms: now_ms(),
            level,
            request: about.request,
            model: about.model.map(ToOwned::to_owned),
            from_host,
            message: cut(message),
        };
        if let Err(error) = self.write(book, &line)
            && !std::mem::replace(&mut book.told, true)
        {
            tracing::warn!(plugin = self.0.plugin, %error, "the plugin's log is kept in memory only");
        }
        if book.lines.len() == KEPT {
            book.lines.pop_front();
        }
        book.lines.push_back(line.clone());
        // Nobody listening is no fault.
        let _heard = self.0.sender.send(line);
    }

    /// Appends to the file; a full one becomes the older one.
    fn write(&self, book: &mut Book, line: &PluginLogLine) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        let (bytes, most) = (text.len() as u64, self.0.most_bytes.load(Ordering::Relaxed) / 2);
        if bytes > most {
            // Of a plugin that wants next to no log: it is in memory.
            return Ok(());
        }
        let path = self.0.folder.join(FILE);
        if book.file_bytes + bytes > most {
            book.file = None;
            match fs::rename(&path, self.0.folder.join(OLDER)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => book.file_bytes = 0,
            }
        }
        let file = match &mut book.file {
            Some(file) => file,
            none => none.insert(open(&self.0.folder, &path)?),
        };
        file.write_all(&text)?;
        book.file_bytes += bytes;
        Ok(())
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The file, at its end.
fn open(folder: &Path, path: &Path) -> io::Result<fs::File> {
    fs::create_dir_all(folder)?;
    let mut file = fs::OpenOptions::new().create(true).read(true).append(true).open(path)?;
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            // A host that was killed in the middle of a line.
            file.write_all(b"\n")?;
        }
    }
    Ok(file)
}

/// Reads the lines of a file that there may not be.
fn read_into(lines: &mut VecDeque<PluginLogLine>, path: &Path) {
    let Ok(file) = fs::File::open(path) else { return };
    let read = BufReader::new(file.take(MOST_READ_BYTES)).split(b'\n').map_while(Result::ok);
    for line in read.filter_map(|line| serde_json::from_slice(&line).ok()) {
        if lines.len() == KEPT {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}

/// A message of bounded length on one line.
fn cut(message: &str) -> String {
    let shown = &message[..message.floor_char_boundary(LINE_BYTES)];
    let mut line = shown.replace(['\n', '\r'], " ");
    if shown.len() < message.len() {
        line += &format!(" … {} bytes were cut off", message.len() - shown.len());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(folder: &Path) -> Log {
        Log::open("p", folder, 16 << 10)
    }

    #[test]
    fn it_goes_on_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let log = open(folder.path());
        let about = About { request: 7, model: Some("m") };
        log.line(LogLevel::Info, about, "one\ntwo");
        log.host_line(LogLevel::Warn, about, "stopped");
        let again = open(folder.path());
        again.line(LogLevel::Debug, About::default(), "three");
        let lines = again.tail(10);
        let told: Vec<_> =
            lines.iter().map(|line| (line.seq, line.message.as_str(), line.from_host)).collect();
        assert_eq!(told, [(1, "one two", false), (2, "stopped", true), (3, "three", false)]);
        assert_eq!((lines[0].request, lines[0].model.as_deref()), (7, Some("m")));
        assert_eq!(again.last_request(), 7);
        assert_eq!(again.tail(1), lines[2..]);
    }

    #[test]
    fn a_line_that_was_cut_off_by_a_crash_costs_that_line_alone() {
        let folder = tempfile::tempdir().unwrap();
        open(folder.path()).line(LogLevel::Info, About::default(), "one");
        let path = folder.path().join(FILE);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, [&whole[..], b"\xff\xfe\n", &whole[..20]].concat()).unwrap();
        open(folder.path()).line(LogLevel::Info, About::default(), "two");
        let lines = open(folder.path()).tail(10);
        let told: Vec<_> = lines.iter().map(|line| (line.seq, line.message.as_str())).collect();
        assert_eq!(told, [(1, "one"), (2, "two")]);
    }

    #[test]
    fn floods_are_dropped_and_counted_and_long_lines_cut() {
        let folder = tempfile::tempdir().unwrap();
        let log = open(folder.path());
        log.line(LogLevel::Info, About::default(), &"ü".repeat(1 << 20));
        assert!(log.tail(1)[0].message.len() < LINE_BYTES + 64);
        assert!(log.tail(1)[0].message.ends_with("bytes were cut off"));
        for number in 0..1_000 {
            log.line(LogLevel::Info, About::default(), &number.to_string());
        }
        log.call_ended(About::default());
        log.call_ended(About::default());
        let lines = log.tail(KEPT);
        let told: Vec<_> = lines.iter().filter(|line| line.message.contains("were dropped")).collect();
        assert!(told.iter().all(|line| line.from_host));
        assert!(lines.len() < 700, "{}", lines.len());
        let counted = |line: &&PluginLogLine| line.message.split(' ').next().unwrap().parse::<u64>().unwrap();
        let dropped: u64 = told.iter().map(counted).sum();
        assert_eq!(lines.len() as u64 - told.len() as u64 + dropped, 1_001, "each is there or counted");
        assert_eq!(lines.last().unwrap().seq, 1_001 + told.len() as u64, "a gap is where they were dropped");
    }

    #[test]
    fn what_the_host_says_of_calls_counts_as_the_plugins_own_lines() {
        let folder = tempfile::tempdir().unwrap();
        let log = open(folder.path());
        for _ in 0..1_000 {
            log.on_call(LogLevel::Error, About::default(), "the disk is full");
        }
        assert!(log.tail(KEPT).len() < 700);
        assert!(log.tail(1)[0].from_host);
    }

    #[test]
    fn files_stay_within_their_bound() {
        let folder = tempfile::tempdir().unwrap();
        let log = open(folder.path());
        for number in 0..300 {
            log.host_line(LogLevel::Info, About::default(), &format!("{number} {}", "x".repeat(400)));
        }
        let size = |name: &str| fs::metadata(folder.path().join(name)).unwrap().len();
        assert!(size(FILE) + size(OLDER) <= 16 << 10);
        let lines = open(folder.path()).tail(KEPT);
        assert_eq!(lines.last().unwrap().seq, 300);
        assert!(lines.len() < 60, "the older ones are gone");
        fs::remove_file(folder.path().join(FILE)).unwrap();
        for number in 0..100 {
            log.host_line(LogLevel::Info, About::default(), &format!("{number} {}", "x".repeat(400)));
        }
        assert_eq!(open(folder.path()).tail(1)[0].seq, 400, "written again after somebody removed it");
    }

    #[test]
    fn a_plugin_that_wants_next_to_no_log_has_it_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::open("p", folder.path(), 1);
        log.line(LogLevel::Info, About::default(), "here");
        assert_eq!(log.tail(1)[0].message, "here");
        assert!(!folder.path().join(FILE).exists());
    }

    #[tokio::test]
    async fn a_follower_hears_what_comes() {
        let folder = tempfile::tempdir().unwrap();
        let log = open(folder.path());
        log.line(LogLevel::Info, About::default(), "before");
        let mut coming = log.follow();
        log.line(LogLevel::Error, About::default(), "now");
        assert_eq!(coming.recv().await.unwrap().message, "now");
    }
}
