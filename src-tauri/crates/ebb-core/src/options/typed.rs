//! Session options for which ONNX Runtime has a call of its own. Libraries before 1.28 ignore their text keys, and the call
//! works with every one, so Ebb always makes the call.

use super::SessionPlan;

/// Prefix of profile files where profiling was only turned on.
const PROFILE_PREFIX: &str = "ebb_profile";

/// What became of an option that has a call.
pub(super) enum Typed {
    /// The call that will be made.
    Call(String),
    /// The value is the default, so no call is made.
    Default,
}

/// Notes the call that a known session key stands for; `None` where it has none. The value has been checked.
pub(super) fn set(session: &mut SessionPlan, key: &str, value: &str) -> Option<Typed> {
    let on = value == "1";
    let call =
        |name: &str, argument: &dyn std::fmt::Display| Some(Typed::Call(format!("{name}({argument})")));
    match key.strip_prefix("session.")? {
        "intra_op_num_threads" => {
            session.intra_threads = value.parse().ok();
            call("SetIntraOpNumThreads", &value)
        }
        "inter_op_num_threads" => {
            session.inter_threads = value.parse().ok();
            call("SetInterOpNumThreads", &value)
        }
        "execution_mode" => {
            let parallel = value.ends_with("parallel");
            session.parallel_execution = Some(parallel);
            call("SetSessionExecutionMode", &if parallel { "ORT_PARALLEL" } else { "ORT_SEQUENTIAL" })
        }
        "graph_optimization_level" => {
            session.graph_optimization_level = Some(level(value));
            call("SetSessionGraphOptimizationLevel", &format_args!("ORT_{}", value.to_ascii_uppercase()))
        }
        "enable_mem_pattern" => {
            session.mem_pattern = Some(on);
            call(if on { "EnableMemPattern" } else { "DisableMemPattern" }, &"")
        }
        "optimized_model_filepath" => {
            text(&mut session.optimized_model_path, value, "SetOptimizedModelFilePath")
        }
        "enable_profiling" => {
            let prefix = match value {
                "0" | "false" => "",
                "1" | "true" => PROFILE_PREFIX,
                prefix => prefix,
            };
            text(&mut session.profiling_prefix, prefix, "EnableProfiling")
        }
        "log_id" => text(&mut session.log_id, value, "SetSessionLogId"),
        "log_severity_level" => {
            session.log_severity = value.parse().ok();
            if session.log_severity.is_none() {
                Some(Typed::Default)
            } else {
                call("SetSessionLogSeverityLevel", &value)
            }
        }
        "log_verbosity_level" => {
            session.log_verbosity = value.parse().ok();
            call("SetSessionLogVerbosityLevel", &value)
        }
        "use_deterministic_compute" => {
            session.deterministic = Some(on);
            call("SetDeterministicCompute", &on)
        }
        _ => None,
    }
}

fn text(slot: &mut Option<String>, value: &str, call: &str) -> Option<Typed> {
    if value.is_empty() {
        return Some(Typed::Default);
    }
    *slot = Some(value.to_owned());
    Some(Typed::Call(format!("{call}({value})")))
}

fn level(name: &str) -> u32 {
    match name {
        "disable_all" => 0,
        "enable_basic" => 1,
        "enable_extended" => 2,
        "enable_layout" => 3,
        _ => 99,
    }
}
