//! `ebb key`

use ebb_core::{Places, operations::AddKey};

use crate::{
    args::KeyCommand,
    error::Result,
    host,
    render::{self, Out},
};

pub(super) async fn run(command: KeyCommand, places: &Places, out: &mut Out) -> Result {
    let client = host::connect(places).await?;
    match command {
        KeyCommand::Add { name, scope } => {
            let scopes = scope.into_iter().map(Into::into).collect();
            out.show(&client.add_key(&AddKey { name, scopes }).await?, render::added_key)
        }
        KeyCommand::List => {
            let keys = client.keys().await?;
            out.show(&keys, |keys, look| render::key_list(keys, std::time::SystemTime::now(), look))
        }
        KeyCommand::Remove { name } => out.show(&client.remove_key(&name).await?, |key, look| {
            format!("{}  removed: it opens nothing any more\n", look.bold(&key.name))
        }),
    }
}
