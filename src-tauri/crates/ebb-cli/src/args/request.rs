//! What every request may ask for besides its work.

use std::time::Duration;

use clap::Args;
use ebb_core::{KeepAlive, operations::RequestOptions};

use super::{Pair, load::keep_alive};

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Request options")]
pub(crate) struct RequestArgs {
    /// Give the free memory of the model's arenas back once the answer is out
    #[arg(long)]
    shrink_after: bool,
    /// A run option of this request alone. May be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    run_option: Vec<Pair>,
    /// Give up where the answer is not complete after so long: 30s, 5m, or a number of seconds
    #[arg(long, value_name = "TIME", value_parser = limit)]
    timeout: Option<Duration>,
    /// From now on unload the model when nobody has used it for so long: 5m, 1h, a number of seconds, 0 at once, -1 never
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = keep_alive)]
    keep_alive: Option<KeepAlive>,
}

impl From<RequestArgs> for RequestOptions {
    fn from(args: RequestArgs) -> Self {
        Self {
            // No arena named: all of them.
            shrink_after: args.shrink_after.then(Vec::new),
            run_options: args.run_option.into_iter().map(|Pair { key, value }| (key, value)).collect(),
            timeout_ms: args.timeout.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            keep_alive: args.keep_alive,
        }
    }
}

/// A time that something may take. It is written as times to keep a model are.
fn limit(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(KeepAlive::For(time)) if !time.is_zero() => Ok(time),
        _ => Err("write a time above 0: 30s, 5m, 500ms, or a number of seconds".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_time_above_zero() {
        assert_eq!(limit("1m30s"), Ok(Duration::from_secs(90)));
        assert_eq!(limit("0.5"), Ok(Duration::from_millis(500)));
        for text in ["0", "-1", "soon", ""] {
            assert!(limit(text).is_err(), "{text}");
        }
    }
}
