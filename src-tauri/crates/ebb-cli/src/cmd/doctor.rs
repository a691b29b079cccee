//! `ebb doctor`

use ebb_core::{
    Places,
    operations::{Check, CheckState, Doctor},
};

use crate::{
    error::{Error, Result},
    host,
    render::{self, Out},
};

/// Asks the host. That no host can be started is the first thing to be told, so it is a check too.
pub(super) async fn run(places: &Places, out: &mut Out) -> Result {
    let client = match host::connect(places).await {
        Ok(client) => client,
        Err(Error::NoHost(failure)) => {
            let hint = failure.hint.clone();
            let found = format!("cannot be started: {failure}");
            let checks = vec![Check { name: "host".into(), state: CheckState::Missing, found, hint }];
            out.show(&Doctor { checks }, render::doctor)?;
            return Err(Error::Reported(3));
        }
        Err(error) => return Err(error),
    };
    let doctor = client.doctor().await?;
    out.show(&doctor, render::doctor)?;
    if doctor.checks.iter().any(|check| check.state == CheckState::Missing) {
        return Err(Error::Reported(1));
    }
    Ok(())
}
