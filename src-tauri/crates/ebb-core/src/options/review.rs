//! Every option that does not hold, not only the first: what a form shows while it is filled in.

use std::collections::BTreeMap;

use super::{Plan, Requested, Scope, arena, plan::planned, provider_name, translate::Understood};
use crate::Failure;

/// What a load's options would come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Review {
    /// The plan of those that hold. Its lines stand in the order of the requests, those that Ebb adds last.
    pub plan: Plan,
    /// Those that do not hold: the place among the requests, and why.
    pub refused: Vec<(usize, Failure)>,
}

/// Says of every option what [`super::plan`] would say, where that stops at the first that does not hold. A load takes the
/// options where none is refused here, and comes to the same plan. Of two that cannot both hold, the later is refused.
pub fn review(requested: &[Requested], provider: &str) -> Review {
    let (mut options, mut refused) = (Vec::new(), Vec::new());
    let mut places: BTreeMap<(Scope, String), usize> = BTreeMap::new();
    for (index, one) in requested.iter().enumerate() {
        let option = match Understood::read(one) {
            Ok(option) => option,
            Err(failure) => {
                refused.push((index, failure));
                continue;
            }
        };
        let (scope, key) = option.place();
        let first = *places.entry((scope.clone(), key.to_owned())).or_insert(options.len());
        match options.get(first).and_then(|(_, first)| option.contradicts(first)) {
            Some(failure) => refused.push((index, failure)),
            None => options.push((index, option)),
        }
    }
    refuse_second_cap(&mut options, &mut refused);
    refused.sort_by_key(|(index, _)| *index);
    let options: Vec<Understood<'_>> = options.into_iter().map(|(_, option)| option).collect();
    // Two caps were all that an arena can fail of.
    let plan = planned(&options, &provider_name(provider)).unwrap_or_default();
    Review { plan, refused }
}

fn refuse_second_cap(options: &mut Vec<(usize, Understood<'_>)>, refused: &mut Vec<(usize, Failure)>) {
    let Err(failure) = arena::planned(options.iter().map(|(_, option)| option)) else { return };
    options.retain(|(index, option)| {
        let is_second = failure.param.as_deref() == Some(option.resolved.key.as_str());
        if is_second {
            refused.push((*index, failure.clone()));
        }
        !is_second
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Code,
        options::{OptionLine, plan},
    };

    fn requested(options: &[(&str, &str, &str)]) -> Vec<Requested> {
        let one = |(scope, key, value): &(&str, &str, &str)| Requested {
            scope: scope.parse().unwrap(),
            key: (*key).to_owned(),
            value: (*value).to_owned(),
        };
        options.iter().map(one).collect()
    }

    #[test]
    fn every_option_that_does_not_hold_is_told() {
        let requested = requested(&[
            ("session", "enable_cpu_mem_arena", "banana"),
            ("session", "enable_mem_pattern", "1"),
            ("session", "session.enable_mem_pattern", "0"),
            ("session", "no.such.key", "1"),
            ("arena", "max_mem", "400MB"),
            ("arena", "working_mem", "8MiB"),
            ("run", crate::options::SHRINK_KEY, "disk:0"),
            ("run", "", "1"),
        ]);
        let review = review(&requested, "cpu");
        let codes: Vec<(usize, Code)> =
            review.refused.iter().map(|(index, failure)| (*index, failure.code)).collect();
        let expected = [
            (0, Code::InvalidValue),
            (2, Code::Conflict),
            (5, Code::Conflict),
            (6, Code::InvalidTarget),
            (7, Code::InvalidValue),
        ];
        assert_eq!(codes, expected);
        let keys: Vec<&str> = review.plan.lines.iter().take(3).map(|line| line.key.as_str()).collect();
        assert_eq!(keys, ["enable_mem_pattern", "no.such.key", "max_mem"]);
        let unknown: Vec<bool> = review.plan.lines.iter().map(OptionLine::is_unknown).take(3).collect();
        assert_eq!(unknown, [false, true, false]);
        assert_eq!(review.plan.arena.unwrap().max_mem_bytes, Some(400_000_000));
    }

    #[test]
    fn what_holds_comes_to_the_plan_of_a_load() {
        let requested = requested(&[
            ("arena", "max_mem", "1GiB"),
            ("session", "intra_op_num_threads", "2"),
            ("session", "intra_op_num_threads", "2"),
            ("provider.cuda", "gpu_mem_limit", "1GiB"),
            ("run", crate::options::SHRINK_KEY, "cpu:0"),
        ]);
        for provider in ["cpu", "CUDA", "auto"] {
            let review = review(&requested, provider);
            assert_eq!(review.refused, []);
            assert_eq!(review.plan, plan(&requested, provider).unwrap());
        }
    }

    #[test]
    fn caps_of_an_arena_that_is_off_do_not_contradict_each_other() {
        let requested = requested(&[
            ("arena", "max_mem", "1GiB"),
            ("arena", "working_mem", "1GiB"),
            ("session", "enable_cpu_mem_arena", "0"),
        ]);
        assert_eq!(review(&requested, "cpu").refused, []);
        assert!(plan(&requested, "cpu").is_ok());
    }
}
