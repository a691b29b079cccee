//! What `wit-bindgen` makes of the contract in `wit/`. The pipelines' world imports all that there is; the policies' world shares its types.
#![allow(missing_docs, reason = "the contract's comments are the documentation, and small fields go without")]
#![allow(clippy::all, reason = "generated")]

pub mod pipelines {
    wit_bindgen::generate!({
        world: "rag-pipeline",
        path: "wit",
        additional_derives: [PartialEq],
        generate_unused_types: true,
        pub_export_macro: true,
        export_macro_name: "export_rag_pipeline",
    });
}

pub mod policies {
    wit_bindgen::generate!({
        world: "shrink-policy",
        path: "wit",
        additional_derives: [PartialEq],
        pub_export_macro: true,
        export_macro_name: "export_shrink_policy",
        with: {
            "ebb:plugin/types@0.1.0": super::pipelines::ebb::plugin::types,
            "ebb:plugin/memory-stats@0.1.0": super::pipelines::ebb::plugin::memory_stats,
            "ebb:plugin/plugin-host@0.1.0": super::pipelines::ebb::plugin::plugin_host,
        },
    });
}

pub use pipelines::{
    ebb::plugin::{documents, inference, memory_control, memory_stats, plugin_host, store, types},
    exports::ebb::plugin::pipeline,
};
pub use policies::exports::ebb::plugin::policy;
