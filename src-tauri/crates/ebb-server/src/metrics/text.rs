//! Prometheus' text format.

use std::fmt::{Display, Write as _};

/// What the format is announced as.
pub(super) const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What a figure is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// Goes up and down.
    Gauge,
    /// Goes up, or starts anew.
    Counter,
    /// Counts in buckets.
    Histogram,
}

/// A scrape that is being written: families one after the other, each with its samples.
#[derive(Debug, Default)]
pub(super) struct Text(String);

impl Text {
    /// Begins a family. `help` is one line without backslashes.
    pub(super) fn family(&mut self, name: &str, kind: Kind, help: &str) {
        let kind = match kind {
            Kind::Gauge => "gauge",
            Kind::Counter => "counter",
            Kind::Histogram => "histogram",
        };
        // Writing to a `String` never fails.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// Adds a sample to the family that was begun last.
    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (place, (label, value)) in labels.iter().enumerate() {
            let before = if place == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{before}{label}=\"{}\"", escaped(value));
        }
        let after = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{after} {value}");
    }

    /// Adds a sample where there is one.
    pub(super) fn sample_if_any(&mut self, name: &str, labels: &[(&str, &str)], value: Option<u64>) {
        if let Some(value) = value {
            self.sample(name, labels, value);
        }
    }

    /// Adds a histogram: `counts` has one more than `bounds`, for what is above the last.
    pub(super) fn histogram(
        &mut self,
        name: &str,
        labels: &[(&str, &str)],
        bounds: &[f64],
        counts: &[u64],
        sum: f64,
    ) {
        let mut so_far = 0;
        let bounds = bounds.iter().map(ToString::to_string).chain(["+Inf".to_owned()]);
        for (bound, count) in bounds.zip(counts) {
            so_far += count;
            let labels = [labels, &[("le", bound.as_str())]].concat();
            self.sample(&format!("{name}_bucket"), &labels, so_far);
        }
        self.sample(&format!("{name}_sum"), labels, sum);
        self.sample(&format!("{name}_count"), labels, so_far);
    }

    pub(super) fn finish(self) -> String {
        self.0
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_follow_their_family() {
        let mut text = Text::default();
        text.family("a_bytes", Kind::Gauge, "What it is.");
        text.sample("a_bytes", &[], 7);
        text.sample("a_bytes", &[("model", "q\"\\\n"), ("device", "cpu:0")], 1.5);
        text.family("t_seconds", Kind::Histogram, "Times.");
        text.histogram("t_seconds", &[("model", "m")], &[0.5, 1.0], &[2, 0, 1], 9.25);
        insta::assert_snapshot!(text.finish(), @r#"
        # HELP a_bytes What it is.
        # TYPE a_bytes gauge
        a_bytes 7
        a_bytes{model="q\"\\\n",device="cpu:0"} 1.5
        # HELP t_seconds Times.
        # TYPE t_seconds histogram
        t_seconds_bucket{model="m",le="0.5"} 2
        t_seconds_bucket{model="m",le="1"} 2
        t_seconds_bucket{model="m",le="+Inf"} 3
        t_seconds_sum{model="m"} 9.25
        t_seconds_count{model="m"} 3
        "#);
    }
}
