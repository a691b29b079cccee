//! Which nodes of a model file take its cache: whether it may be read and written in place.

use std::{collections::BTreeMap, io, path::Path};

use super::external::{Field, MODEL_GRAPH, Wire};
use crate::Error;

// Field numbers of onnx.proto.
const GRAPH_NODE: u64 = 1;
const NODE_INPUT: u64 = 1;
const NODE_OUTPUT: u64 = 2;
const NODE_OP_TYPE: u64 = 4;

/// The operator that takes a cache with room to spare and writes into it, and where it has its past key and value and their
/// present.
const IN_PLACE: &str = "GroupQueryAttention";
const PAST_INPUTS: [usize; 2] = [3, 4];
const PRESENT_OUTPUTS: [usize; 2] = [1, 2];

/// Whether the model's cache may be one buffer that is read and written in place: each of these inputs goes into a
/// GroupQueryAttention and nowhere else, which gives the output that belongs to it. `None` for an `.ort` file, which does
/// not tell.
///
/// # Errors
/// Where the file cannot be read.
pub(crate) fn cache_in_place(
    file: &Path,
    past_to_present: &BTreeMap<&str, &str>,
) -> Result<Option<bool>, Error> {
    if file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ort")) {
        return Ok(None);
    }
    let broken = |error: io::Error| Error::invalid_model(file, error.to_string());
    let len_bytes = fs_err::metadata(file).map_err(broken)?.len();
    let mut wire = Wire::open(file).map_err(broken)?;
    let mut in_place = 0;
    let walked = each_node(&mut wire, len_bytes, |node| {
        let taken =
            node.inputs.iter().enumerate().filter(|(_, input)| past_to_present.contains_key(input.as_str()));
        let mut fits = true;
        for (at, input) in taken {
            let output = PAST_INPUTS.iter().position(|&past| past == at).map(|which| PRESENT_OUTPUTS[which]);
            let present = output.and_then(|output| node.outputs.get(output)).map(String::as_str);
            fits &= node.op_type == IN_PLACE && present == past_to_present.get(input.as_str()).copied();
            in_place += 1;
        }
        fits
    });
    let all_fit = walked.map_err(broken)?;
    Ok(Some(all_fit && in_place == past_to_present.len()))
}

#[derive(Default)]
struct Node {
    op_type: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
}

/// Calls `look` with the nodes of the graph until it says false; what it said last.
fn each_node(wire: &mut Wire, end: u64, mut look: impl FnMut(Node) -> bool) -> io::Result<bool> {
    while let Some(field) = wire.field(end)? {
        let Field { number: MODEL_GRAPH, end: Some(end) } = field else {
            wire.skip_to(field.end)?;
            continue;
        };
        while let Some(field) = wire.field(end)? {
            let Field { number: GRAPH_NODE, end: Some(end) } = field else {
                wire.skip_to(field.end)?;
                continue;
            };
            if !look(node(wire, end)?) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn node(wire: &mut Wire, end: u64) -> io::Result<Node> {
    let mut node = Node::default();
    while let Some(field) = wire.field(end)? {
        match field {
            Field { number: NODE_INPUT, end: Some(end) } => node.inputs.push(wire.text(end)?),
            Field { number: NODE_OUTPUT, end: Some(end) } => node.outputs.push(wire.text(end)?),
            Field { number: NODE_OP_TYPE, end: Some(end) } => node.op_type = wire.text(end)?,
            Field { end, .. } => wire.skip_to(end)?,
        }
    }
    Ok(node)
}
