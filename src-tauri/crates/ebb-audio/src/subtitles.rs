//! What was heard, as subtitles.

use std::fmt::Write;

use ebb_core::Segment;

/// Segments as SubRip (`.srt`). Those that may still change are left out.
pub fn srt(segments: &[Segment]) -> String {
    let mut all = String::new();
    for (number, segment) in final_ones(segments).enumerate() {
        let (start, end) = times(segment, ',');
        let _infallible = write!(all, "{}\n{start} --> {end}\n{}\n\n", number + 1, line(&segment.text));
    }
    all
}

/// Segments as WebVTT (`.vtt`). Those that may still change are left out.
pub fn vtt(segments: &[Segment]) -> String {
    let mut all = "WEBVTT\n\n".to_owned();
    for segment in final_ones(segments) {
        let (start, end) = times(segment, '.');
        let text = line(&segment.text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let _infallible = write!(all, "{start} --> {end}\n{text}\n\n");
    }
    all
}

fn final_ones(segments: &[Segment]) -> impl Iterator<Item = &Segment> {
    segments.iter().filter(|segment| !segment.partial && !segment.text.trim().is_empty())
}

/// A text on one line: an empty line would end it, and an arrow would be taken for times.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("-->", "→")
}

/// Start and end. A subtitle that takes no time is not shown: it takes one millisecond at least.
fn times(segment: &Segment, point: char) -> (String, String) {
    let end_ms = segment.end_ms.max(segment.start_ms.saturating_add(1));
    (time(segment.start_ms, point), time(end_ms, point))
}

fn time(ms: u64, point: char) -> String {
    let (seconds, ms) = (ms / 1_000, ms % 1_000);
    format!("{:02}:{:02}:{:02}{point}{ms:03}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(start_ms: u64, end_ms: u64, text: &str) -> Segment {
        Segment { start_ms, end_ms, text: text.to_owned(), ..Segment::default() }
    }

    #[test]
    fn each_format_writes_times_its_own_way() {
        let segments = [segment(0, 1_500, "Hello"), segment(3_661_007, 3_662_000, "there")];
        assert_eq!(
            srt(&segments),
            "1\n00:00:00,000 --> 00:00:01,500\nHello\n\n2\n01:01:01,007 --> 01:01:02,000\nthere\n\n"
        );
        assert_eq!(
            vtt(&segments),
            "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nHello\n\n01:01:01.007 --> 01:01:02.000\nthere\n\n"
        );
        assert_eq!((srt(&[]), vtt(&[])), (String::new(), "WEBVTT\n\n".to_owned()));
    }

    #[test]
    fn a_text_cannot_break_out_of_its_place() {
        let text = "a\n\n00:00:09,000 --> 00:00:10,000\r\n<b>&";
        assert_eq!(
            srt(&[segment(5, 5, text)]),
            "1\n00:00:00,005 --> 00:00:00,006\na 00:00:09,000 → 00:00:10,000 <b>&\n\n"
        );
        assert_eq!(
            vtt(&[segment(5, 5, text)]),
            "WEBVTT\n\n00:00:00.005 --> 00:00:00.006\na 00:00:09,000 → 00:00:10,000 &lt;b&gt;&amp;\n\n"
        );
    }

    #[test]
    fn what_may_change_or_says_nothing_is_left_out() {
        let growing = Segment { partial: true, ..segment(0, 9, "gro") };
        assert_eq!(srt(&[growing, segment(0, 9, "  "), segment(0, 9, "grown")]).lines().next(), Some("1"));
        assert_eq!(srt(&[segment(0, 9, " ")]), "");
    }
}
