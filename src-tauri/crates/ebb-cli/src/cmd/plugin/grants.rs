//! What is typed of grants, as grants.

use std::path::PathBuf;

use ebb_client::Plugin;
use ebb_core::{
    Capability,
    operations::{Grant, PluginEntry},
};

use crate::{
    args::{GrantArgs, Wanted},
    error::{Result, storage},
    render::{self, Out},
};

pub(super) async fn grant(plugin: &Plugin, args: GrantArgs, out: &mut Out) -> Result {
    let wanted = named(&args.capabilities, &plugin.info().await?);
    let grants = grants(wanted, &args.model, &absolute(args.path)?);
    out.show(&plugin.grant(grants).await?, render::plugin_capabilities)
}

pub(super) async fn revoke(plugin: &Plugin, args: GrantArgs, out: &mut Out) -> Result {
    let entry = plugin.info().await?;
    let granted = |one: &Capability| {
        entry.capabilities.iter().any(|state| state.capability == *one && state.granted.is_some())
    };
    let wanted = named(&args.capabilities, &entry);
    // Of all, only what there is to take.
    let all = args.capabilities.contains(&Wanted::All);
    let wanted = wanted.into_iter().filter(|one| !all || granted(one)).collect();
    let grants = grants(wanted, &args.model, &absolute(args.path)?);
    out.show(&plugin.revoke(grants).await?, render::plugin_capabilities)
}

/// The capabilities as typed; `all` is every one that the plugin asks for.
fn named(typed: &[Wanted], entry: &PluginEntry) -> Vec<Capability> {
    let asked = entry.manifest.capabilities.iter().map(|request| request.capability);
    let mut named: Vec<Capability> = if typed.contains(&Wanted::All) {
        asked.collect()
    } else {
        let one = |wanted: &Wanted| match wanted {
            Wanted::One(capability) => Some(*capability),
            Wanted::All => None,
        };
        typed.iter().filter_map(one).collect()
    };
    named.sort_unstable();
    named.dedup();
    named
}

/// One grant a capability: models where it is of models, paths where it is of documents.
pub(super) fn grants(capabilities: Vec<Capability>, models: &[String], paths: &[PathBuf]) -> Vec<Grant> {
    capabilities
        .into_iter()
        .map(|capability| Grant {
            capability,
            models: if capability.is_of_models() { models.to_vec() } else { Vec::new() },
            paths: if capability == Capability::Documents { paths.to_vec() } else { Vec::new() },
        })
        .collect()
}

/// The host stands in another folder.
pub(in crate::cmd) fn absolute(paths: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    let absolute = |path: PathBuf| std::path::absolute(&path).map_err(|error| storage("find", &path, &error));
    paths.into_iter().map(absolute).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_and_paths_go_where_they_belong() {
        let wanted = vec![Capability::InferenceEmbed, Capability::Store, Capability::Documents];
        let grants = grants(wanted, &["m".into()], &["/d".into()]);
        assert_eq!((grants[0].models.len(), grants[0].paths.len()), (1, 0));
        assert_eq!((grants[1].models.len(), grants[1].paths.len()), (0, 0));
        assert_eq!((grants[2].models.len(), grants[2].paths.len()), (0, 1));
    }
}
