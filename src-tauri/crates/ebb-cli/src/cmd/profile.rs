//! `ebb profile`

use std::collections::BTreeMap;

use ebb_client::Client;
use ebb_core::{LoadOptions, Places, operations::Profile};

use crate::{
    args::ProfileCommand,
    error::Result,
    host,
    render::{self, Out},
};

pub(super) async fn run(command: ProfileCommand, places: &Places, out: &mut Out) -> Result {
    let client = host::connect(places).await?;
    match command {
        ProfileCommand::List => out.show(&client.profiles().await?, render::profile_list),
        ProfileCommand::Show { name } => out.show(&client.profile(&name).await?, render::profile),
        ProfileCommand::Save { name, description, from_model, load } => {
            let base = match from_model {
                Some(alias) => client.model(alias).info().await?.options,
                None => LoadOptions::default(),
            };
            let options = in_full(&client, LoadOptions::from(*load).over(base)).await?;
            let profile =
                Profile { name, description, built_in: false, options, reasons: BTreeMap::default() };
            out.show(&client.save_profile(&profile).await?, render::profile)
        }
        ProfileCommand::Remove { name } => out.show(&client.remove_profile(&name).await?, |profile, look| {
            format!("{}  removed\n", look.bold(&profile.name))
        }),
    }
}

/// A profile does not lie over another: what these options lie over is put into them.
async fn in_full(client: &Client, mut options: LoadOptions) -> Result<LoadOptions> {
    match options.profile.take() {
        Some(name) => Ok(options.over(client.profile(&name).await?.options)),
        None => Ok(options),
    }
}
