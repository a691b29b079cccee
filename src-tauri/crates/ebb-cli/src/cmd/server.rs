//! `ebb server`

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, Write as _},
    net::{Ipv4Addr, TcpListener},
    path::Path,
    time::Duration,
};

use ebb_client::Client;
use ebb_core::{Code, Failure, Places, operations::HostStatus};
use ebb_server::{Page, ServeOptions, Server};
use tracing_subscriber::{EnvFilter, Layer as _, layer::SubscriberExt as _, util::SubscriberInitExt as _};

use super::interrupt::or_interrupt;
use crate::{
    args::{ServerCommand, ServerRunArgs, StartArgs},
    error::{Error, Result, storage},
    host::{self, How, Start},
    render::{self, Out, note},
};

/// Is the host, until it is told to end.
pub(super) fn run(args: ServerRunArgs, out: &mut Out) -> Result {
    let filter = EnvFilter::try_from_env("EBB_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let terminal = io::IsTerminal::is_terminal(&io::stderr());
    let written =
        tracing_subscriber::fmt::layer().with_ansi(terminal).with_writer(io::stderr).with_filter(filter);
    tracing_subscriber::registry().with(written).with(ebb_api::keep_log()).init();
    let places = Places::from_env()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // Before a host is: one that cannot do what it was started for is none.
    let page = args.start.ui.then(Page::find).transpose()?;
    runtime.block_on(async {
        let host = ebb_api::Host::open(places, ebb_api::Settings::default())?;
        let options = ServeOptions {
            port: args.start.port,
            idle_exit: args.idle_exit.map(Duration::from_secs),
            page,
            ..ServeOptions::default()
        };
        let server = Server::bind(host, options).await?;
        if args.start.ui {
            out.show(&server.login_link()?, render::login_link)?;
            out.flush()?;
        }
        server.run().await?;
        Ok(())
    })
}

/// Prints the description of every route.
pub(super) fn openapi(out: &mut Out) -> Result {
    Ok(out.write_all(ebb_server::openapi_json().as_bytes())?)
}

/// Everything about the host but being it.
pub(super) async fn control(command: ServerCommand, places: &Places, out: &mut Out) -> Result {
    match command {
        ServerCommand::Start(args) => match host::running(places)? {
            Some(client) => {
                note("a host is running already\n");
                shown(&client, args.ui, out).await
            }
            None => start(places, args, out).await,
        },
        ServerCommand::Stop => {
            said(host::stop(places).await?);
            if out.json { out.show(&not_running(), render::host_status) } else { Ok(()) }
        }
        ServerCommand::Restart(args) => restart(places, args, out).await,
        ServerCommand::Status => match host::running(places)? {
            Some(client) => out.show(&client.status().await?, render::host_status),
            None => {
                out.show(&not_running(), render::host_status)?;
                Err(Error::Reported(3))
            }
        },
        ServerCommand::Logs { follow, lines } => match or_interrupt(logs(places, follow, lines, out)).await {
            Err(Error::Interrupted) => Ok(()),
            other => other,
        },
        // Done before this, without looking for a host.
        ServerCommand::Run(_) | ServerCommand::Openapi => Ok(()),
    }
}

/// Prints a link to the page of the host that runs; where none does, one is started.
pub(super) async fn ui(places: &Places, out: &mut Out) -> Result {
    match host::running(places)? {
        Some(client) => shown(&client, true, out).await,
        None => start(places, StartArgs { port: None, ui: true }, out).await,
    }
}

async fn start(places: &Places, StartArgs { port, ui }: StartArgs, out: &mut Out) -> Result {
    let client = host::start(places, Start { port, idle_exit: None, ui }).await?;
    shown(&client, ui, out).await
}

/// What a person is told of a host that runs now: how to open its page where that was asked for, else how it fares.
async fn shown(client: &Client, ui: bool, out: &mut Out) -> Result {
    if ui {
        return out.show(&client.login_link().await?, render::login_link);
    }
    out.show(&client.status().await?, render::host_status)
}

/// Comes up again where it was, so that those who know its address find it; elsewhere only where that port was taken
/// meanwhile and nobody asked for it.
async fn restart(places: &Places, StartArgs { port, ui }: StartArgs, out: &mut Out) -> Result {
    if let (Some(port), Some(client)) = (port, host::running(places)?)
        && host::port_of(client.endpoint()) != Some(port)
    {
        // Before the running host is ended, or none would be left.
        can_listen(port)?;
    }
    let how = host::stop(places).await?;
    said(how);
    let before = match how {
        How::NotRunning => None,
        How::Asked { port } | How::Killed { port } => port,
    };
    match (port, before) {
        (None, Some(before)) => match start(places, StartArgs { port: Some(before), ui }, out).await {
            Err(Error::NoHost(_)) => start(places, StartArgs { port: None, ui }, out).await,
            other => other,
        },
        (port, _) => start(places, StartArgs { port, ui }, out).await,
    }
}

fn can_listen(port: u16) -> Result {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map(drop).map_err(|error| {
        let (code, why) = if error.kind() == io::ErrorKind::AddrInUse {
            (Code::Conflict, format!("port {port} is taken by another program"))
        } else {
            (Code::Internal, format!("cannot listen on port {port}: {error}"))
        };
        Failure::new(code, format!("{why}; the host that runs was left as it is"))
            .hint("choose another port, or none: the host then comes up where it was")
            .param("port")
            .into()
    })
}

fn said(how: How) {
    note(match how {
        How::NotRunning => "no host was running\n",
        How::Asked { .. } => "the host has ended\n",
        How::Killed { .. } => "the host did not end by itself and was killed\n",
    });
}

fn not_running() -> HostStatus {
    HostStatus {
        running: false,
        url: None,
        pid: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        uptime_ms: 0,
        resident_bytes: 0,
        models: Vec::new(),
        coming_back: Vec::new(),
    }
}

async fn logs(places: &Places, follow: bool, lines: usize, out: &mut Out) -> Result {
    let path = places.log_file();
    let mut file = File::open(&path).map_err(|error| storage("open the log", &path, &error))?;
    let text = read_on(&mut file, &path)?;
    out.write_all(last_lines(&text, lines))?;
    out.flush()?;
    if !follow {
        return Ok(());
    }
    loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        // A new host may have put the log aside and begun another.
        let begun_anew = std::fs::metadata(&path)
            .is_ok_and(|meta| file.stream_position().is_ok_and(|position| meta.len() < position));
        if begun_anew {
            file = File::open(&path).map_err(|error| storage("open the log", &path, &error))?;
        }
        let more = read_on(&mut file, &path)?;
        out.write_all(&more)?;
        out.flush()?;
    }
}

fn read_on(file: &mut File, path: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    file.read_to_end(&mut text).map_err(|error| storage("read the log", path, &error))?;
    Ok(text)
}

fn last_lines(text: &[u8], lines: usize) -> &[u8] {
    let ends =
        text.iter().enumerate().rev().filter(|(index, byte)| **byte == b'\n' && index + 1 < text.len());
    match ends.map(|(index, _)| index + 1).nth(lines.saturating_sub(1)) {
        _ if lines == 0 => &[],
        Some(from) => &text[from..],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines() {
        for (text, lines, want) in [
            ("a\nb\nc\n", 2, "b\nc\n"),
            ("a\nb\nc", 1, "c"),
            ("a\nb\n", 9, "a\nb\n"),
            ("a\n", 0, ""),
            ("", 3, ""),
        ] {
            assert_eq!(last_lines(text.as_bytes(), lines), want.as_bytes(), "{text:?} {lines}");
        }
    }
}
