//! The reading thread: greets, loads, then hands jobs on and answers controls.

use std::{
    io::{Read, Write},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use ebb_core::{Failure, LoadSpec, Session};
use ebb_ipc::{FromWorker, ToWorker, greet, read_frame};

use crate::{
    Error,
    inbox::{Inbox, Letter},
    ledger::Ledger,
    output::Output,
    turns::{Turns, guarded},
};

/// How long the session's thread may take to end once the host has hung up. It ends between two steps; a step may be long,
/// and nobody waits for it any more.
const FAREWELL: Duration = Duration::from_millis(500);

/// Serves one model: greets, loads what the host says with `load`, then works until `reader` ends. `load` is told the
/// spec and where to say how far it is.
///
/// Returns true where the session is gone by then; false where a step still runs, and only the end of the process ends it.
///
/// # Errors
/// [`Error::Host`] where the host does not speak the protocol; [`Error::Load`] where the model could not be loaded, after
/// the host was told.
pub fn serve<S, R, W, L>(load: L, mut reader: R, mut writer: W) -> Result<bool, Error>
where
    S: Session + 'static,
    R: Read,
    W: Write + Send + 'static,
    L: FnOnce(&LoadSpec, &mut dyn FnMut(&str)) -> Result<S, Failure> + Send + 'static,
{
    greet(&mut reader, &mut writer)?;
    let output = Arc::new(Output::new(writer));
    let spec = match read_frame::<ToWorker>(&mut reader)?.map(|frame| frame.message) {
        Some(ToWorker::Load(spec)) => spec,
        Some(_) => return Err(Error::OutOfTurn("a request before a load")),
        None => return Ok(true),
    };
    let inbox = Arc::new(Inbox::default());
    let (ready, loaded) = channel();
    let (ending, ended) = channel::<()>();
    let session_thread = {
        let (inbox, output) = (Arc::clone(&inbox), Arc::clone(&output));
        move || {
            // Dropped when this thread ends, however it ends.
            let _ending = ending;
            match open(load, &spec, &output) {
                Ok((session, ledger)) => {
                    let ledger = Arc::new(ledger);
                    let _gone = ready.send(Ok(Arc::clone(&ledger)));
                    Turns::new(session, &ledger, &output).work(&inbox);
                }
                Err(failure) => {
                    // The host hangs up on hearing it, and the reason must be known then.
                    let _gone = ready.send(Err(failure.clone()));
                    output.send(FromWorker::LoadFailed(failure));
                }
            }
        }
    };
    thread::Builder::new()
        .name("session".to_owned())
        .spawn(session_thread)
        .map_err(|error| Error::Host(error.into()))?;

    // The host sends nothing before the model is loaded, but it may hang up: that is noticed at once.
    let result = read_all(&mut reader, &loaded, &inbox, &output);
    inbox.close();
    result?;
    Ok(ended.recv_timeout(FAREWELL) == Err(RecvTimeoutError::Disconnected))
}

fn open<S, W, L>(load: L, spec: &LoadSpec, output: &Output<W>) -> Result<(S, Ledger), Failure>
where
    S: Session,
    W: Write,
    L: FnOnce(&LoadSpec, &mut dyn FnMut(&str)) -> Result<S, Failure>,
{
    let mut say = |stage: &str| output.send(FromWorker::Loading { stage: stage.to_owned() });
    let session = guarded(|| load(spec, &mut say))?;
    let ledger = Ledger::new(spec.alias.clone(), session.control(), &spec.options.runtime_options)?;
    let info = Box::new(session.info().clone());
    output.send(FromWorker::Loaded { info, sample: ledger.sample()? });
    Ok((session, ledger))
}

fn read_all<W: Write>(
    reader: &mut impl Read,
    loaded: &Receiver<Result<Arc<Ledger>, Failure>>,
    inbox: &Inbox,
    output: &Output<W>,
) -> Result<(), Error> {
    let mut ledger: Option<Arc<Ledger>> = None;
    while let Some(frame) = read_frame::<ToWorker>(reader)? {
        let ledger = match &ledger {
            Some(ledger) => ledger,
            None => ledger.insert(await_load(loaded)?),
        };
        match frame.message {
            ToWorker::Load(_) => return Err(Error::OutOfTurn("a second load")),
            ToWorker::Run { id, job, credit } => {
                inbox.put(Letter::Run { id, job: *job, data: frame.tail, credit });
            }
            ToWorker::Credit { id, chunks } => inbox.put(Letter::Credit { id, chunks }),
            ToWorker::Cancel { id } => inbox.put(Letter::Cancel { id }),
            ToWorker::Ask { id, ask } => {
                let answer = guarded(|| ledger.answer(ask));
                output.send(FromWorker::Answer { id, answer });
            }
        }
    }
    // The host hung up; if that was because loading failed, say so.
    match loaded.try_recv() {
        Ok(Err(failure)) => Err(Error::Load(failure)),
        _ => Ok(()),
    }
}

fn await_load(loaded: &Receiver<Result<Arc<Ledger>, Failure>>) -> Result<Arc<Ledger>, Error> {
    match loaded.recv() {
        Ok(Ok(ledger)) => Ok(ledger),
        Ok(Err(failure)) => Err(Error::Load(failure)),
        Err(_) => Err(Error::OutOfTurn("a request after a load that panicked")),
    }
}

#[cfg(test)]
mod tests;
