//! Between the author's traits and the contract's exports.

use std::{any::Any, cell::RefCell, marker::PhantomData};

use crate::{
    bindings::{
        memory_stats::Sample,
        pipeline::{self, Citation, Ingested},
        policy::{self, Decision, RunReport},
        types,
    },
    pipeline::{Answer, RagPipeline},
    policy::{Idle, Pressure, ShrinkPolicy},
};

thread_local! {
    /// The author's value. An instance of a component has one thread and exports one thing.
    static VALUE: RefCell<Option<Box<dyn Any>>> = const { RefCell::new(None) };
}

/// Runs `call` on the author's value, which is made at the first call.
fn with<T: Default + 'static, R>(call: impl FnOnce(&mut T) -> R) -> R {
    VALUE.with_borrow_mut(|value| {
        if value.as_ref().is_none_or(|value| !value.is::<T>()) {
            log_panics();
            *value = Some(Box::new(T::default()));
        }
        let value = value.as_mut().and_then(|value| value.downcast_mut());
        call(value.expect("the value was just made"))
    })
}

/// A panic ends in a trap, which has no message: the log has to hear it before. Natively the test tells it.
fn log_panics() {
    #[cfg(target_family = "wasm")]
    std::panic::set_hook(Box::new(|panic| crate::error!("{panic}")));
}

/// What the contract sees of a policy.
#[derive(Debug)]
pub struct Policy<P>(PhantomData<P>);

impl<P: ShrinkPolicy> policy::Guest for Policy<P> {
    fn on_run(run: RunReport) -> Result<Decision, String> {
        crate::backend::begin(Some(run.after.at_ms));
        with(|policy: &mut P| policy.on_run(&run))
    }

    fn on_idle(model: String, idle_ms: u64, now: Sample) -> Result<Decision, String> {
        crate::backend::begin(Some(now.at_ms));
        with(|policy: &mut P| policy.on_idle(&Idle { model, idle_ms, now }))
    }

    fn on_pressure(
        model: String,
        available_bytes: u64,
        total_bytes: u64,
        now: Sample,
    ) -> Result<Decision, String> {
        crate::backend::begin(Some(now.at_ms));
        let pressure = Pressure { model, available_bytes, total_bytes, now };
        with(|policy: &mut P| policy.on_pressure(&pressure))
    }
}

/// What the contract sees of a pipeline.
#[derive(Debug)]
pub struct Pipeline<P>(PhantomData<P>);

impl<P: RagPipeline> pipeline::Guest for Pipeline<P> {
    type Answer = AnswerOf<P>;

    fn ingest() -> Result<Ingested, types::Error> {
        crate::backend::begin(None);
        with(|pipeline: &mut P| pipeline.ingest()).map_err(Into::into)
    }
}

/// What the contract sees of a pipeline's answer.
#[derive(Debug)]
pub struct AnswerOf<P: RagPipeline>(RefCell<P::Answer>);

impl<P: RagPipeline> pipeline::GuestAnswer for AnswerOf<P> {
    fn ask(question: String, history: Vec<(String, String)>) -> Result<pipeline::Answer, types::Error> {
        crate::backend::begin(None);
        let answer = with(|pipeline: &mut P| pipeline.ask(&question, &history))?;
        Ok(pipeline::Answer::new(Self(RefCell::new(answer))))
    }

    fn citations(&self) -> Result<Vec<Citation>, types::Error> {
        self.0.borrow_mut().citations().map_err(Into::into)
    }

    fn next(&self) -> Result<Option<String>, types::Error> {
        self.0.borrow_mut().next().map_err(Into::into)
    }

    fn cancel(&self) {
        self.0.borrow_mut().cancel();
    }
}

/// Makes a type that implements [`ShrinkPolicy`](crate::ShrinkPolicy) the policy of this component. Once a crate, which is a
/// `cdylib`; built for anything but Wasm, it only checks the type.
///
/// ```
/// use ebb_plugin_sdk::{ShrinkPolicy, export_policy};
///
/// #[derive(Default)]
/// struct Never;
///
/// impl ShrinkPolicy for Never {}
///
/// export_policy!(Never);
/// ```
#[macro_export]
macro_rules! export_policy {
    ($policy:ty) => {
        const _: () = {
            type Exported = $crate::__private::Policy<$policy>;
            const fn is_a_policy<P: $crate::ShrinkPolicy>() {}
            is_a_policy::<$policy>();
            #[cfg(target_family = "wasm")]
    $crate::__private::export_shrink_policy!(Exported with_types_in $crate::__private::policies);
        };
    };
}

/// Makes a type that implements [`RagPipeline`](crate::RagPipeline) the pipeline of this component, as [`export_policy!`](crate::export_policy) does with
/// a policy.
#[macro_export]
macro_rules! export_pipeline {
    ($pipeline:ty) => {
        const _: () = {
            type Exported = $crate::__private::Pipeline<$pipeline>;
            const fn is_a_pipeline<P: $crate::RagPipeline>() {}
            is_a_pipeline::<$pipeline>();
            #[cfg(target_family = "wasm")]
    $crate::__private::export_rag_pipeline!(Exported with_types_in $crate::__private::pipelines);
        };
    };
}

#[cfg(test)]
mod tests {
    use super::{policy::Guest as _, *};
    use crate::testing::{run, sample};

    #[derive(Default)]
    struct Counting(u64);

    impl ShrinkPolicy for Counting {
        fn on_run(&mut self, run: &RunReport) -> Result<Decision, String> {
            self.0 += 1;
            Err(format!("{} of {}", self.0, run.model))
        }

        fn on_idle(&mut self, idle: &Idle) -> Result<Decision, String> {
            self.0 += 1;
            Ok(Decision::Other(format!(
                "{} {} {}",
                self.0,
                idle.model,
                idle.idle_ms + idle.now.slack_bytes()
            )))
        }

        fn on_pressure(&mut self, pressure: &Pressure) -> Result<Decision, String> {
            let Pressure { available_bytes, total_bytes, .. } = pressure;
            Ok(Decision::shrink_on(&format!("{} {available_bytes} {total_bytes}", self.0)))
        }
    }

    #[test]
    fn the_same_value_answers_every_call() {
        type Exported = Policy<Counting>;
        assert_eq!(Exported::on_run(run(sample(1, 2))), Err("1 of model".into()));
        let idle = Exported::on_idle("m".into(), 1_000, sample(1, 8));
        assert_eq!(idle, Ok(Decision::Other("2 m 1007".into())));
        let pressure = Exported::on_pressure("m".into(), 5, 9, sample(1, 8));
        assert_eq!(pressure, Ok(Decision::Shrink(vec!["2 5 9".into()])));
    }
}
