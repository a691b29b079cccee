//! Which nodes of a model file take its cache: whether it may be read and written in place.

use std::{collections::BTreeMap, io, path::Path};

use super::external::{Field, MODEL_GRAPH, Wire};
use crate::Error;

// Field numbers of onnx.proto.
const GRAPH_NODE: u64 = 1;
const GRAPH_INPUT: u64 = 11;
const VALUE_NAME: u64 = 1;
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
    let walked = each_in_graph(&mut wire, len_bytes, GRAPH_NODE, |wire, end| {
        let node = node(wire, end)?;
        let taken =
            node.inputs.iter().enumerate().filter(|(_, input)| past_to_present.contains_key(input.as_str()));
        let mut fits = true;
        for (at, input) in taken {
            let output = PAST_INPUTS.iter().position(|&past| past == at).map(|which| PRESENT_OUTPUTS[which]);
            let present = output.and_then(|output| node.outputs.get(output)).map(String::as_str);
            fits &= node.op_type == IN_PLACE && present == past_to_present.get(input.as_str()).copied();
            in_place += 1;
        }
        Ok(fits)
    });
    let all_fit = walked.map_err(broken)?;
    Ok(Some(all_fit && in_place == past_to_present.len()))
}

/// Whether the model takes a cache of earlier tokens, as decoders of text do. False for an `.ort` file, which does not tell.
///
/// # Errors
/// Where the file cannot be read.
pub(super) fn takes_cache(file: &Path) -> Result<bool, Error> {
    if file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ort")) {
        return Ok(false);
    }
    let broken = |error: io::Error| Error::invalid_model(file, error.to_string());
    let len_bytes = fs_err::metadata(file).map_err(broken)?.len();
    let mut wire = Wire::open(file).map_err(broken)?;
    let of_cache = |wire: &mut Wire, end: u64| -> io::Result<bool> {
        let mut name = String::new();
        while let Some(field) = wire.field(end)? {
            match field {
                Field { number: VALUE_NAME, end: Some(end) } => name = wire.text(end)?,
                Field { end, .. } => wire.skip_to(end)?,
            }
        }
        Ok(name.starts_with("past_key_values."))
    };
    each_in_graph(&mut wire, len_bytes, GRAPH_INPUT, |wire, end| Ok(!of_cache(wire, end)?))
        .map(|none| !none)
        .map_err(broken)
}

#[derive(Default)]
struct Node {
    op_type: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
}

/// Calls `look` with where each field of this number in the graph ends, until it says false; what it said last.
fn each_in_graph(
    wire: &mut Wire,
    end: u64,
    number: u64,
    mut look: impl FnMut(&mut Wire, u64) -> io::Result<bool>,
) -> io::Result<bool> {
    while let Some(field) = wire.field(end)? {
        let Field { number: MODEL_GRAPH, end: Some(end) } = field else {
            wire.skip_to(field.end)?;
            continue;
        };
        while let Some(field) = wire.field(end)? {
            match field.end {
                Some(end) if field.number == number => {
                    if !look(wire, end)? {
                        return Ok(false);
                    }
                }
                end => wire.skip_to(end)?,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u64, content: &[u8]) -> Vec<u8> {
        let len = content.len();
        [&[(number << 3 | 2) as u8, len as u8 | 0x80, (len >> 7) as u8], content].concat()
    }

    fn node(op_type: &str, inputs: &[&str], outputs: &[&str]) -> Vec<u8> {
        let texts = |number, texts: &[&str]| -> Vec<u8> {
            texts.iter().flat_map(|text| field(number, text.as_bytes())).collect()
        };
        let fields =
            [texts(NODE_INPUT, inputs), texts(NODE_OUTPUT, outputs), texts(NODE_OP_TYPE, &[op_type])]
                .concat();
        field(GRAPH_NODE, &fields)
    }

    fn said(nodes: &[Vec<u8>]) -> Option<bool> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("model.onnx");
        let input = field(GRAPH_INPUT, &field(VALUE_NAME, b"past_key_values.0.key"));
        fs_err::write(&file, field(MODEL_GRAPH, &[nodes.concat(), input].concat())).unwrap();
        assert!(takes_cache(&file).unwrap());
        cache_in_place(&file, &[("pk", "nk"), ("pv", "nv")].into()).unwrap()
    }

    #[test]
    fn a_cache_is_taken_in_place_only_where_nothing_else_sees_its_room() {
        let grouped =
            |op_type| node(op_type, &["q", "k", "v", "pk", "pv", "len", "total"], &["o", "nk", "nv"]);
        let of_other = node("GroupQueryAttention", &["q", "k", "v", "pk", "pv"], &["o", "nk"]);
        let crossed = node("GroupQueryAttention", &["q", "k", "v", "pk", "pv"], &["o", "nv", "nk"]);
        assert_eq!(said(&[grouped("GroupQueryAttention")]), Some(true));
        assert_eq!(said(&[grouped("MultiHeadAttention")]), Some(false));
        assert_eq!(said(&[grouped("GroupQueryAttention"), node("Shape", &["pk"], &["s"])]), Some(false));
        assert_eq!(said(&[of_other]), Some(false), "the values do not come out of it");
        assert_eq!(said(&[crossed]), Some(false));
        assert_eq!(said(&[node("Concat", &["x"], &["nk"])]), Some(false), "nothing takes it");
    }
}
