//! How long a model that nobody uses stays in memory.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Code, Failure};

/// How long a model stays after its last request. Written as people know it: `5m`, `90s`, `1h30m`, `500ms`, a number of
/// seconds, 0 for not at all, -1 for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepAlive {
    /// Until it is unloaded.
    Forever,
    /// So long.
    For(Duration),
}

impl KeepAlive {
    /// From a number of seconds; below 0: for ever.
    ///
    /// # Errors
    /// Where it is no number, or more than a `Duration` holds.
    pub fn from_seconds(seconds: f64) -> Result<Self, Failure> {
        if seconds < 0.0 {
            return Ok(Self::Forever);
        }
        Duration::try_from_secs_f64(seconds).map(Self::For).map_err(|_| malformed(&seconds.to_string()))
    }
}

impl FromStr for KeepAlive {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Failure> {
        let trimmed = text.trim();
        if let Ok(seconds) = trimmed.parse::<f64>() {
            return Self::from_seconds(seconds).map_err(|_| malformed(text));
        }
        if let Some(time) = trimmed.strip_prefix('-') {
            time.parse::<Self>().map_err(|_| malformed(text))?;
            return Ok(Self::Forever);
        }
        let mut rest = trimmed;
        let mut seconds = 0.0;
        while !rest.is_empty() {
            let digits =
                rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(|| malformed(text))?;
            let number: f64 = rest[..digits].parse().map_err(|_| malformed(text))?;
            let unit = rest[digits..].find(|c: char| c.is_ascii_digit()).map_or(rest.len(), |at| digits + at);
            seconds += number
                * match rest[digits..unit].trim() {
                    "ms" => 0.001,
                    "s" => 1.0,
                    "m" => 60.0,
                    "h" => 3_600.0,
                    "d" => 86_400.0,
                    _ => return Err(malformed(text)),
                };
            rest = &rest[unit..];
        }
        if trimmed.is_empty() {
            Err(malformed(text))
        } else {
            Self::from_seconds(seconds).map_err(|_| malformed(text))
        }
    }
}

fn malformed(text: &str) -> Failure {
    Failure::new(Code::InvalidValue, format!("'{text}' is no time to keep a model"))
        .hint("write 5m, 90s, 1h, a number of seconds, 0 for not at all, or -1 for ever")
        .param("keep_alive")
}

impl fmt::Display for KeepAlive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::For(time) = self else { return f.write_str("-1") };
        let ms = time.as_millis();
        match ms {
            0 => f.write_str("0"),
            _ if ms % 3_600_000 == 0 => write!(f, "{}h", ms / 3_600_000),
            _ if ms % 60_000 == 0 => write!(f, "{}m", ms / 60_000),
            _ if ms % 1_000 == 0 => write!(f, "{}s", ms / 1_000),
            _ => write!(f, "{ms}ms"),
        }
    }
}

impl Serialize for KeepAlive {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for KeepAlive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = KeepAlive;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time such as \"5m\", or a number of seconds")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<KeepAlive, E> {
                text.parse().map_err(|failure: Failure| E::custom(failure.message))
            }

            fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<KeepAlive, E> {
                self.visit_f64(seconds as f64)
            }

            fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<KeepAlive, E> {
                self.visit_f64(seconds as f64)
            }

            fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<KeepAlive, E> {
                KeepAlive::from_seconds(seconds).map_err(|failure| E::custom(failure.message))
            }
        }
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(Visitor)
        } else {
            deserializer.deserialize_str(Visitor)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_as_people_write_them() {
        for (text, seconds) in [
            ("5m", 300.0),
            ("90s", 90.0),
            ("1h30m", 5_400.0),
            ("500ms", 0.5),
            ("0", 0.0),
            (" 12 ", 12.0),
            ("1.5h", 5_400.0),
        ] {
            assert_eq!(
                text.parse::<KeepAlive>().unwrap(),
                KeepAlive::For(Duration::from_secs_f64(seconds)),
                "{text}"
            );
        }
        for text in ["-1", "-5m", "-0.5"] {
            assert_eq!(text.parse::<KeepAlive>().unwrap(), KeepAlive::Forever, "{text}");
        }
        for text in ["", "m", "5x", "5m3", "nan", "1e300h", "-", "soon", "inf"] {
            assert_eq!(text.parse::<KeepAlive>().unwrap_err().code, Code::InvalidValue, "{text}");
        }
    }

    #[test]
    fn json_takes_text_and_numbers_and_reads_back() {
        for (json, text) in
            [("\"5m\"", "5m"), ("300", "5m"), ("-1", "-1"), ("0", "0"), ("1.5", "1500ms"), ("90", "90s")]
        {
            let keep: KeepAlive = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_value(keep).unwrap(), text, "{json}");
        }
        assert!(serde_json::from_str::<KeepAlive>("true").is_err());
    }
}
