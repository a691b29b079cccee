//! What wasmtime generates of `wit/`: one world with every interface that any world may import, so that each is implemented
//! once, on [`Guest`](crate::guest::Guest). No component fills all of it: a world's exports are looked up one by one.

#![allow(missing_docs, unreachable_pub, reason = "generated")]

wasmtime::component::bindgen!({
    path: "../../../wit",
    inline: "
        package ebb:host;

        world plugin {
            import ebb:plugin/plugin-host@0.1.0;
            import ebb:plugin/memory-stats@0.1.0;
            import ebb:plugin/memory-control@0.1.0;
            import ebb:plugin/inference@0.1.0;
            import ebb:plugin/store@0.1.0;
            import ebb:plugin/documents@0.1.0;
            export ebb:plugin/pipeline@0.1.0;
        }
    ",
    world: "ebb:host/plugin",
    imports: {
        "ebb:plugin/plugin-host": trappable,
        "ebb:plugin/memory-stats": trappable,
        default: async | trappable,
    },
    exports: { default: async },
    with: {
        "ebb:plugin/memory-control.runtime": crate::host::memory_control::Runtime,
        "ebb:plugin/inference.generation": crate::host::inference::Generation,
        "ebb:plugin/store.collection": crate::host::store::Collection,
    },
});

pub use ebb::plugin::{documents, inference, memory_control, memory_stats, plugin_host, store, types};
pub use exports::ebb::plugin::pipeline;
