//! Requests and answers of the operations that every shell calls: the bodies of HTTP, the `--json` of the command line, the
//! types of the clients.

mod check;
mod host;
mod keys;
mod log;
mod login;
mod memory;
mod models;
mod plugins;
mod pull;
mod recording;
mod system;
mod work;

pub use check::{OptionProblem, OptionsCheck, Severity};
pub use host::{Check, CheckState, Doctor, HostStatus, OptionList, Profile, ProfileList, Shutdown};
pub use keys::{AddKey, AddedKey, KeyEntry, KeyList, KeyScope};
pub use log::{HostLog, HostLogLine};
pub use login::LoginLink;
pub use memory::{
    Armed, RuntimeOptions, SetRuntimeOption, ShrinkAllReport, ShrinkFailure, ShrinkRequest, Stats,
};
pub use models::{AddModel, Estimate, LoadReport, ModelEntry, ModelList, ModelState, UnloadReport};
pub use plugins::{
    AskAnswer, AskPiece, AskRequest, Asked, AttachPlugin, Attachment, CapabilityState, Citation,
    CollectionState, CountTokens, DetachPlugin, Grant, Grants, IngestPiece, IngestReport, InstallPlugin,
    LogLevel, PluginEntry, PluginIndex, PluginList, PluginLog, PluginLogLine, PluginOrigin, PluginProgress,
    PluginSettings, RunningCall, Skipped, TokenCounts,
};
pub use pull::{DemoModel, DemoModelList, ImportModel, PullModel, PullPiece, PullProgress, PullStage};
pub use recording::{
    RecordingEvent, RecordingHead, RecordingLine, ReplayDecision, ReplayFailure, ReplayFigures, ReplayPoint,
    ReplayPromise, ReplayReport,
};
pub use system::{
    Device, DeviceMemory, FolderSize, HostProcess, ModelMemory, RuntimeLibrary, System, SystemMemory,
};
pub use work::{
    EmbedAnswer, EmbedPiece, EmbedRequest, GenerateAnswer, GeneratePiece, GenerateRequest, RequestOptions,
    RunAnswer, RunRequest, TensorValue, TranscribeAnswer, TranscribePiece, TranscribeRequest,
};

/// Largest body of a request that a host takes, unless it was set up otherwise.
pub const MAX_BODY_BYTES: usize = 64 << 20;

/// Largest audio file that a host takes: three hours of speech as 16-bit samples at 16 kHz, and somewhat more.
pub const MAX_AUDIO_BYTES: usize = 512 << 20;
