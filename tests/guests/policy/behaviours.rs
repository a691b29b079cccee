// Every way in which this guest misbehaves. The guest makes a choice of these names, and the tests of the sandbox a list of test
// functions: a behaviour without a test does not compile.

/// Behaviours of the policy: the model's alias chooses.
macro_rules! policy_behaviours {
    ($each:ident) => {
        $each! {
            loops_forever recurses allocates traps panics fails floods_the_log logs_a_huge_line logs_no_utf8
            names_unknown_targets decides_something_new sets_an_option reads_another_model fails_hugely
        }
    };
}
