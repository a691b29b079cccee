//! A worker's log lines, brought into the host's log with the model's name.

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// A line as `tracing-subscriber` writes it in JSON.
#[derive(Deserialize)]
struct Line {
    level: String,
    target: String,
    fields: serde_json::Map<String, serde_json::Value>,
    /// What it belongs to, such as a request.
    #[serde(default)]
    span: serde_json::Map<String, serde_json::Value>,
}

/// Reads lines until the worker ends.
pub(crate) async fn forward(model: String, stderr: impl AsyncRead + Unpin) {
    let mut lines = BufReader::new(stderr).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        let text = String::from_utf8_lossy(&line);
        match serde_json::from_str::<Line>(&text) {
            Ok(line) => emit(&model, line),
            // What a library or a panic prints.
            Err(_) if !text.trim().is_empty() => {
                tracing::warn!(model, source = "worker", "{}", text.trim_end())
            }
            Err(_) => {}
        }
    }
}

fn emit(model: &str, mut line: Line) {
    let message = match line.fields.remove("message") {
        Some(serde_json::Value::String(message)) => message,
        other => other.unwrap_or_default().to_string(),
    };
    line.fields.remove("model");
    line.fields.extend(line.span.into_iter().filter(|(key, _)| key == "request"));
    let (source, fields) = (line.target, serde_json::Value::Object(line.fields).to_string());
    match line.level.as_str() {
        "ERROR" => tracing::error!(model, source, fields, "{message}"),
        "WARN" => tracing::warn!(model, source, fields, "{message}"),
        "INFO" => tracing::info!(model, source, fields, "{message}"),
        _ => tracing::debug!(model, source, fields, "{message}"),
    }
}
