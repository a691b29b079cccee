//! Settings that a policy has read, for as long as they are believed.

/// How long a policy's settings are believed.
const BELIEVED_MS: u64 = 1_000;

/// Settings that were read, and when. A call of the host costs a policy more than the rest of its decision does.
#[derive(Debug)]
pub(crate) struct Known {
    read_at_ms: Option<u64>,
    values: Vec<(String, Option<String>)>,
}

impl Known {
    /// Nothing was read.
    pub(crate) const fn new() -> Self {
        Self { read_at_ms: None, values: Vec::new() }
    }

    /// A call begins: of a policy, at a moment of its model's life. That clock begins anew with each load, so settings that seem
    /// to be read later are old as well.
    pub(crate) fn begin(&mut self, at_ms: Option<u64>) {
        let age = at_ms.zip(self.read_at_ms).and_then(|(now, read)| now.checked_sub(read));
        if age.is_none_or(|age| age >= BELIEVED_MS) {
            self.read_at_ms = at_ms;
            self.values.clear();
        }
    }

    /// A setting as JSON; read where it is not known.
    pub(crate) fn get(&mut self, name: &str, read: impl FnOnce(&str) -> Option<String>) -> Option<&str> {
        let place = self.values.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.values.push((name.to_owned(), read(name)));
            self.values.len() - 1
        });
        self.values[place].1.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a setting is read anew in calls at these moments.
    fn read_at<const N: usize>(moments: [Option<u64>; N]) -> [bool; N] {
        let mut known = Known::new();
        moments.map(|at_ms| {
            known.begin(at_ms);
            let mut reads = false;
            let read = |_: &str| {
                reads = true;
                Some("1".to_owned())
            };
            assert_eq!(known.get("ratio", read), Some("1"));
            assert_eq!(known.get("ratio", |_| None), Some("1"), "once in a call");
            reads
        })
    }

    #[test]
    fn settings_are_read_again_after_a_second_and_after_a_load() {
        assert_eq!(read_at([Some(0), Some(999), Some(1_000), Some(1_500)]), [true, false, true, false]);
        assert_eq!(read_at([Some(900), Some(100), Some(800), Some(50)]), [true, true, false, true]);
        assert_eq!(read_at([None, None]), [true, true], "a pipeline reads them in each call");
    }
}
