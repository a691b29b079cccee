//! `ebb options`

use ebb_core::{operations::OptionList, options::search};

use crate::{
    error::Result,
    render::{self, Out},
};

pub(super) fn run(words: &str, out: &mut Out) -> Result {
    let found = OptionList { options: search(words).into_iter().cloned().collect() };
    out.show(&found, render::option_list)
}
