use std::{fmt, time::Duration};

use ebb_core::{Code, Failure, PluginWorld, format_bytes};

/// Why a plugin could not be read, prepared or called.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is no Wasm.
    #[error("this is no Wasm component")]
    NotWasm,
    /// It is a core module, which no component was made of.
    #[error("this is a core module, not a component")]
    CoreModule,
    /// It ends in the middle, or is malformed.
    #[error("the component is broken at byte {offset}: {reason}")]
    Malformed {
        /// Where.
        offset: usize,
        /// What is wrong.
        reason: String,
    },
    /// It is larger than what is read, or would unfold to more.
    #[error("the component has {what}: {found}, and at most {most} are taken")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much there is.
        found: u64,
        /// How much is taken.
        most: u64,
    },
    /// It exports what no world has.
    #[error("this component fills no world of ebb:plugin: it exports {}", list(.exports))]
    OtherWorld {
        /// What it exports.
        exports: Vec<String>,
    },
    /// It was built for a version of the contract that the host does not speak.
    #[error("built for ebb:plugin {built_for}, this Ebb speaks {}", crate::CONTRACT)]
    OtherVersion {
        /// The version.
        built_for: String,
    },
    /// It imports what its world does not offer.
    #[error("it imports {import}, which the world {world} does not offer")]
    Import {
        /// What it imports.
        import: String,
        /// The world that it fills.
        world: PluginWorld,
    },
    /// It has no manifest.
    #[error("the component has no manifest")]
    NoManifest,
    /// Its manifest is wrong.
    #[error("the manifest is wrong: {}", .problems.join("; "))]
    Manifest {
        /// Each field that is wrong, and why.
        problems: Vec<String>,
    },
    /// Its manifest says other things than its component.
    #[error("the manifest says {said}, but the component {truth}")]
    ManifestLies {
        /// What the manifest says.
        said: String,
        /// What the component shows.
        truth: String,
    },
    /// It cannot be compiled or linked.
    #[error("the component cannot be {step}: {}", whole(.source.as_ref()))]
    Unusable {
        /// What was tried.
        step: &'static str,
        /// Why it failed.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The sandbox itself cannot work here.
    #[error("no sandbox for plugins: {}", whole(.0.as_ref()))]
    Engine(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A call went over a limit.
    #[error("{0}")]
    Stopped(Stop),
    /// A call trapped.
    #[error("it trapped: {0}")]
    Trapped(String),
    /// What the plugin itself answered.
    #[error("it failed: {0}")]
    Guest(String),
    /// What the plugin itself answered, where its caller can act on it.
    #[error("{why}")]
    Answered {
        /// What went wrong, for programs.
        code: Code,
        /// In its words.
        why: String,
    },
    /// It decided or called what it may not.
    #[error("{0}")]
    Denied(String),
    /// A setting does not fit the schema in the manifest.
    #[error("the setting '{}' {reason}", name.escape_debug())]
    Setting {
        /// Its name.
        name: String,
        /// What is wrong.
        reason: String,
    },
}

/// A limit that a call went over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Processor time.
    Cpu(Duration),
    /// Wall time.
    Wall(Duration),
    /// Host calls a second.
    HostCalls(u32),
    /// Linear memory, in bytes.
    Memory(u64),
    /// Elements of tables.
    Tables(u64),
    /// The size of what was handed over in one call, in bytes.
    Payload(u64),
    /// Open handles.
    Handles(u64),
    /// Its stack.
    Stack,
    /// It waited where it must not: a policy that sleeps.
    Waited,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu(most) => write!(f, "stopped after {} of processor time", time(*most)),
            Self::Wall(most) => write!(f, "stopped after {}", time(*most)),
            Self::HostCalls(most) => write!(f, "stopped at {most} calls of the host a second"),
            Self::Memory(most) => write!(f, "stopped at its limit of {} of memory", format_bytes(*most)),
            Self::Tables(most) => write!(f, "stopped at its limit of {most} table elements"),
            Self::Payload(most) => {
                write!(f, "stopped: more than {} handed over in one call", format_bytes(*most))
            }
            Self::Handles(most) => write!(f, "stopped at its limit of {most} open handles"),
            Self::Stack => f.write_str("stopped: its calls nest too deeply for its stack"),
            Self::Waited => f.write_str("stopped: a policy must not wait or sleep"),
        }
    }
}

/// A duration in the unit that suits a limit.
fn time(duration: Duration) -> String {
    match duration.as_millis() {
        ms if ms >= 1_000 && ms.is_multiple_of(1_000) => format!("{} s", ms / 1_000),
        ms => format!("{ms} ms"),
    }
}

fn list(names: &[String]) -> String {
    const SHOWN: usize = 8;
    match names {
        [] => "nothing".to_owned(),
        few if few.len() <= SHOWN => few.join(", "),
        many => format!("{} and {} more", many[..SHOWN].join(", "), many.len() - SHOWN),
    }
}

/// An error with all its causes.
fn whole(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |told, cause| format!("{told}: {cause}"))
}

impl Error {
    /// What a wasmtime error of preparing a component is told as.
    pub(crate) fn unusable(step: &'static str) -> impl FnOnce(wasmtime::Error) -> Self {
        move |error| Self::Unusable { step, source: error.into() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Self::new(code(&error), error.to_string());
        match &error {
            Error::NotWasm => failure.param("path").hint("name a .wasm file that `ebb plugin build` made"),
            Error::CoreModule => failure.param("path").hint("build it with `ebb plugin build`"),
            Error::Malformed { .. } => failure.param("path").hint("fetch or build the file again"),
            Error::TooLarge { .. } | Error::Unusable { .. } => failure.param("path"),
            Error::OtherWorld { .. } => {
                failure.param("path").hint("a plugin exports ebb:plugin/policy or ebb:plugin/pipeline")
            }
            Error::OtherVersion { .. } => {
                failure.param("path").hint("build it again with the SDK of this Ebb, or update Ebb")
            }
            Error::Import { .. } => {
                failure.param("path").hint("build it against the world that its manifest names")
            }
            Error::NoManifest => failure
                .param("path")
                .hint("build it with `ebb plugin build`, which writes plugin.toml into it"),
            Error::Manifest { .. } | Error::ManifestLies { .. } => {
                failure.param("manifest").hint("correct plugin.toml, then run `ebb plugin build` again")
            }
            Error::Setting { name, .. } => failure.param(name.clone()),
            Error::Engine(_)
            | Error::Stopped(_)
            | Error::Trapped(_)
            | Error::Guest(_)
            | Error::Answered { .. }
            | Error::Denied(_) => failure,
        }
    }
}

fn code(error: &Error) -> Code {
    match error {
        Error::NotWasm
        | Error::CoreModule
        | Error::Malformed { .. }
        | Error::OtherWorld { .. }
        | Error::Import { .. }
        | Error::NoManifest
        | Error::Manifest { .. }
        | Error::ManifestLies { .. }
        | Error::Unusable { .. } => Code::InvalidRequest,
        Error::Setting { .. } => Code::InvalidValue,
        Error::TooLarge { .. } | Error::Stopped(Stop::Payload(_)) => Code::TooLarge,
        Error::OtherVersion { .. } => Code::Unsupported,
        Error::Denied(_) => Code::Forbidden,
        Error::Answered { code, .. } => *code,
        Error::Stopped(Stop::Memory(_) | Stop::Tables(_)) => Code::OutOfMemory,
        Error::Stopped(_) => Code::Timeout,
        Error::Engine(_) | Error::Trapped(_) | Error::Guest(_) => Code::Internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_told_in_words() {
        let told = |stop| Error::Stopped(stop).to_string();
        assert_eq!(told(Stop::Cpu(Duration::from_millis(5))), "stopped after 5 ms of processor time");
        assert_eq!(told(Stop::Wall(Duration::from_secs(600))), "stopped after 600 s");
        assert_eq!(told(Stop::Memory(64 << 20)), "stopped at its limit of 64.0 MiB of memory");
    }

    #[test]
    fn what_a_component_exports_is_told_in_part_where_it_is_long() {
        let exports = |count: usize| (0..count).map(|number| format!("e{number}")).collect();
        let told = |exports| Error::OtherWorld { exports }.to_string();
        assert!(told(exports(0)).ends_with("it exports nothing"));
        assert!(told(exports(2)).ends_with("it exports e0, e1"));
        assert!(told(exports(20)).ends_with("e7 and 12 more"));
    }
}
