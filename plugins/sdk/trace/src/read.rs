//! Reading and writing traces. A trace may come from anywhere, so all in it is bounded.

use std::{
    collections::BTreeSet,
    io::{BufRead, Read, Write},
};

use serde::Deserialize;

use crate::{Entry, Error, Event, Head, HeadLine, RunReport, Sample, Shrink, Trace, VERSION};

const LINE_BYTES: u64 = 1 << 20;
const LINES: u64 = 1_000_000;
/// Of the whole trace.
const DEVICES: usize = 64;
/// A month: idle models are asked every second of it.
const DURATION_MS: u64 = 31 * 24 * 3_600_000;

/// A line as it comes; what kind it is, its one known field tells.
#[derive(Deserialize)]
struct Line {
    at_ms: Option<u64>,
    trace: Option<Head>,
    run: Option<RunReport>,
    sample: Option<Sample>,
    shrink: Option<Shrink>,
    pressure: Option<Pressure>,
}

#[derive(Deserialize)]
struct Pressure {
    available_bytes: u64,
    total_bytes: u64,
}

impl Trace {
    /// Reads a trace.
    ///
    /// # Errors
    /// With the number of the first line that does not fit.
    pub fn read(mut reader: impl BufRead) -> Result<Self, Error> {
        let mut bytes = Vec::new();
        let mut trace: Option<Self> = None;
        let mut devices = BTreeSet::new();
        for number in 1.. {
            bytes.clear();
            reader.by_ref().take(LINE_BYTES + 1).read_until(b'\n', &mut bytes)?;
            if bytes.is_empty() {
                break;
            }
            let wrong = |reason: String| Error::Line { line: number, reason };
            if bytes.len() as u64 > LINE_BYTES || number > LINES {
                return Err(wrong(format!("at most {LINES} lines of {LINE_BYTES} bytes are read")));
            }
            if bytes.trim_ascii().is_empty() {
                continue;
            }
            let line: Line =
                serde_json::from_slice(&bytes).map_err(|source| Error::Json { line: number, source })?;
            line.devices(&mut devices).map_err(wrong)?;
            match &mut trace {
                None => trace = Some(Self { head: line.head().map_err(wrong)?, entries: Vec::new() }),
                Some(trace) => {
                    let earliest = trace.entries.last().map_or(0, |entry| entry.at_ms);
                    trace.entries.extend(line.entry(earliest).map_err(wrong)?);
                }
            }
        }
        trace.ok_or(Error::Empty)
    }

    /// Writes the trace.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn write(&self, mut writer: impl Write) -> Result<(), Error> {
        let mut line = |json: Result<String, serde_json::Error>| -> std::io::Result<()> {
            writeln!(writer, "{}", json.map_err(std::io::Error::other)?)
        };
        line(serde_json::to_string(&HeadLine { trace: self.head.clone() }))?;
        for entry in &self.entries {
            line(serde_json::to_string(entry))?;
        }
        Ok(writer.flush()?)
    }
}

impl Line {
    /// Notes the devices that it names. A replay keeps an arena for each.
    fn devices(&self, known: &mut BTreeSet<String>) -> Result<(), String> {
        let samples = [
            self.trace.as_ref().map(|head| &head.after_load),
            self.run.as_ref().map(|run| &run.after),
            self.sample.as_ref(),
        ];
        for arena in samples.into_iter().flatten().flat_map(|sample| &sample.arenas) {
            if !known.contains(&arena.device) {
                known.insert(arena.device.clone());
            }
        }
        match known.len() {
            0..=DEVICES => Ok(()),
            _ => Err(format!("it is of more than {DEVICES} devices")),
        }
    }

    fn head(self) -> Result<Head, String> {
        let head = self.trace.ok_or("the first line must be {\"trace\": {…}}")?;
        if head.version != VERSION {
            return Err(format!("it is of version {}, this reads version {VERSION}", head.version));
        }
        Ok(head)
    }

    /// What happened, or nothing where a later version tells something that this one does not know.
    fn entry(self, earliest_ms: u64) -> Result<Option<Entry>, String> {
        let events = [
            self.run.map(Event::Run),
            self.sample.map(Event::Sample),
            self.shrink.map(Event::Shrink),
            self.pressure.map(|Pressure { available_bytes, total_bytes }| Event::Pressure {
                available_bytes,
                total_bytes,
            }),
        ];
        let mut events = events.into_iter().flatten();
        let Some(event) = events.next() else { return Ok(None) };
        if events.next().is_some() {
            return Err("it tells more than one thing".into());
        }
        let at_ms = self.at_ms.ok_or("it has no at_ms")?;
        if at_ms < earliest_ms || at_ms > DURATION_MS {
            return Err(format!(
                "at_ms is {at_ms}; it must be from {earliest_ms} (the line above) to {DURATION_MS}"
            ));
        }
        Ok(Some(Entry { at_ms, event }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#"{"trace": {"version": 1, "kind": "embeddings", "provider": "cpu", "later": 1, "after_load": {"model": "m",
        "at_ms": 0, "resident_bytes": 1, "private_bytes": 1, "runs": 0, "arenas": [{"device": "cpu:0", "in_use_bytes": 5,
        "reserved_bytes": 7, "peak_in_use_bytes": 6, "limit_bytes": null, "regions": 1, "shrinkages": 0}], "pools": []}}}"#;

    fn read(lines: &str) -> Result<Trace, String> {
        let head = HEAD.replace('\n', "");
        Trace::read(format!("{head}\n{lines}").as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_was_written_is_read() {
        let trace = crate::Workload { seed: 3, duration_ms: 600_000, phase_runs: 5 }.trace();
        let mut bytes = Vec::new();
        trace.write(&mut bytes).unwrap();
        assert!(trace.entries.len() > 20, "the workload is too small to tell");
        assert_eq!(Trace::read(bytes.as_slice()).unwrap(), trace);
    }

    #[test]
    fn what_is_not_known_is_passed_over() {
        let trace = read("\n{\"at_ms\": 9, \"weather\": \"fine\"}\n{\"at_ms\": 3, \"pressure\": {\"available_bytes\": 1, \"total_bytes\": 9, \"x\": 0}}").unwrap();
        assert_eq!(trace.head.after_load.slack_bytes(), 2);
        let event = Event::Pressure { available_bytes: 1, total_bytes: 9 };
        assert_eq!(trace.entries, [Entry { at_ms: 3, event }]);
    }

    fn many_devices() -> String {
        let arena =
            |index: u32| format!(r#"{{"device": "gpu:{index}", "in_use_bytes": 1, "reserved_bytes": 1}}"#);
        let arenas: Vec<String> = (0..64).map(arena).collect();
        let sample = r#""model": "m", "at_ms": 0, "resident_bytes": 0, "private_bytes": 0, "runs": 0"#;
        format!(r#"{{"at_ms": 1, "sample": {{{sample}, "arenas": [{}]}}}}"#, arenas.join(", "))
    }

    #[test]
    fn a_broken_trace_says_where() {
        let pressure = r#""pressure": {"available_bytes": 1, "total_bytes": 2}"#;
        let run = r#""run": {"model": "m", "outcome": "ok", "took_us": 1, "items": -1}"#;
        for (lines, expected) in [
            ("{".to_owned(), "line 2 of the trace: EOF"),
            (format!("{{{pressure}}}"), "line 2 of the trace: it has no at_ms"),
            (
                format!("{{\"at_ms\": 5, {pressure}}}\n{{\"at_ms\": 4, {pressure}}}"),
                "line 3 of the trace: at_ms is 4",
            ),
            (
                format!("{{\"at_ms\": {}, {pressure}}}", u64::MAX),
                "line 2 of the trace: at_ms is 18446744073709551615",
            ),
            (format!("{{\"at_ms\": 1, {run}}}"), "line 2 of the trace: invalid value: integer `-1`"),
            (many_devices(), "line 2 of the trace: it is of more than 64 devices"),
            ("[1, 2]".to_owned(), "line 2 of the trace"),
            ("\u{0}\u{ff}".to_owned(), "line 2 of the trace"),
            (format!("\"{}\"", "x".repeat(2 << 20)), "line 2 of the trace: at most"),
        ] {
            let error = read(&lines).unwrap_err();
            assert!(error.starts_with(expected), "{expected:?} is not how it begins: {error}");
        }
        let error = |text: &str| Trace::read(text.as_bytes()).unwrap_err().to_string();
        assert!(error("").contains("ebb model record"), "{}", error(""));
        assert!(error("{\"at_ms\": 1}").starts_with("line 1 of the trace: the first line"));
        let newer = HEAD.replace('\n', "").replace("\"version\": 1", "\"version\": 2");
        assert!(error(&newer).contains("of version 2"), "{}", error(&newer));
    }
}
