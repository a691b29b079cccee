//! `ebb profile`

use std::collections::BTreeMap;

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
            let options = LoadOptions::from(*load).over(base);
            let profile =
                Profile { name, description, built_in: false, options, reasons: BTreeMap::default() };
            out.show(&client.save_profile(&profile).await?, render::profile)
        }
        ProfileCommand::Remove { name } => out.show(&client.remove_profile(&name).await?, |profile, look| {
            format!("{}  removed\n", look.bold(&profile.name))
        }),
    }
}
