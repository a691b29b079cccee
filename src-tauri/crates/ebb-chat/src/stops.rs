//! Texts at which an answer ends, found across the borders of tokens.

/// Watches a text for the first stop text in it. What may be the beginning of one is held back.
#[derive(Debug, Default)]
pub(crate) struct Stops {
    texts: Vec<String>,
    held: String,
}

impl Stops {
    pub(crate) fn new(texts: Vec<String>) -> Self {
        Self { texts, held: String::new() }
    }

    /// Takes more text and appends to `ready` what cannot belong to a stop text. Gives the stop text that is complete: the
    /// one that ended first, so that it does not matter in which pieces the text came.
    pub(crate) fn push(&mut self, text: &str, ready: &mut String) -> Option<&str> {
        if self.texts.is_empty() {
            ready.push_str(text);
            return None;
        }
        self.held.push_str(text);
        let found = self.texts.iter().filter_map(|stop| {
            let start = self.held.find(stop.as_str())?;
            Some((start + stop.len(), start, stop))
        });
        if let Some((_, start, stop)) = found.min() {
            ready.push_str(&self.held[..start]);
            self.held.clear();
            return Some(stop);
        }
        let begun = self.texts.iter().map(|stop| begun(&self.held, stop)).max().unwrap_or(0);
        ready.extend(self.held.drain(..self.held.len() - begun));
        None
    }

    /// What is held back when nothing more comes.
    pub(crate) fn finish(&mut self, ready: &mut String) {
        ready.push_str(&std::mem::take(&mut self.held));
    }
}

/// Bytes at the end of `text` that `whole` begins with, without being all of it.
pub(crate) fn begun(text: &str, whole: &str) -> usize {
    let longest = text.len().min(whole.len().saturating_sub(1));
    (1..=longest).rev().find(|&length| text.as_bytes().ends_with(&whole.as_bytes()[..length])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stopped(texts: &[&str], parts: &[&str]) -> (String, Option<String>) {
        let mut stops = Stops::new(texts.iter().map(|&text| text.to_owned()).collect());
        let mut ready = String::new();
        for part in parts {
            if let Some(stop) = stops.push(part, &mut ready).map(str::to_owned) {
                return (ready, Some(stop));
            }
        }
        stops.finish(&mut ready);
        (ready, None)
    }

    #[test]
    fn a_stop_text_is_found_across_pieces_and_left_out() {
        for (texts, parts, text, stop) in [
            (&["END"][..], &["one E", "N", "D two"][..], "one ", Some("END")),
            (&["END"], &["one EN", "E"], "one ENE", None),
            (&["\n\n", "###"], &["a\n", "b#", "#\n", "\nc"], "a\nb##", Some("\n\n")),
            (&["aab"], &["aaa", "b"], "a", Some("aab")),
            (&["abcd", "bc"], &["abcd"], "a", Some("bc")),
            (&["é"], &["caf", "é"], "caf", Some("é")),
            (&[], &["END"], "END", None),
        ] {
            assert_eq!(
                stopped(texts, parts),
                (text.to_owned(), stop.map(str::to_owned)),
                "{texts:?} {parts:?}"
            );
        }
    }

    #[test]
    fn only_what_may_be_a_stop_text_is_held_back() {
        let mut stops = Stops::new(vec!["STOP".to_owned()]);
        let mut ready = String::new();
        stops.push("hello ST", &mut ready);
        assert_eq!(ready, "hello ");
        stops.push("ATE", &mut ready);
        assert_eq!(ready, "hello STATE");
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same(text in "[ab]{0,24}", texts in prop::collection::vec("[ab]{1,4}", 0..4),
            cuts in prop::collection::vec(0_usize..24, 0..6))
        {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let parts: Vec<&str> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            let whole = stopped(&texts, &[&text]);
            prop_assert_eq!(&stopped(&texts, &parts), &whole);
            prop_assert!(texts.iter().all(|stop| !whole.0.contains(stop)));
        }
    }
}
