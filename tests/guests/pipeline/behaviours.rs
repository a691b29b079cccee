// Every way in which this guest misbehaves. The guest makes a choice of these names, and the tests of the sandbox a list of test
// functions: a behaviour without a test does not compile.

/// Behaviours of the pipeline: the question chooses.
macro_rules! pipeline_behaviours {
    ($each:ident) => {
        $each! {
            loops_forever traps allocates uses_a_garbage_handle calls_a_dropped_resource opens_many_handles
            reads_memory controls_memory embeds generates transcribes stores reads_documents
            names_another_plugins_collection tricks_with_paths hands_over_too_much fills_its_store
            floods_progress lies_about_vectors leaves_a_generation_running calls_too_often
        }
    };
}
