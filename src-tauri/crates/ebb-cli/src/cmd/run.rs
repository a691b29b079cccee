//! `ebb run`

use std::{collections::HashSet, fs, io::BufWriter, path::Path};

use ebb_client::{Model, Tensor};
use ebb_core::{
    Code, Failure, ModelInfo, Places, TensorSpec,
    operations::{RequestOptions, RunRequest, TensorValue},
};
use serde_json::{Map, Value};

use super::{interrupt::or_interrupt, named::Named};
use crate::{
    args::{InputArg, TensorArgs},
    error::{Error, Result, storage},
    host, npy,
    render::{self, Out},
    tensors,
};

pub(super) async fn run(args: TensorArgs, places: &Places, out: &mut Out) -> Result {
    let client = host::connect(places).await?;
    let named = Named::find(&client, &args.model).await?;
    let done = or_interrupt(run_on(&named.model, args, out)).await;
    // Where both fail, the first failure is the cause.
    let left = named.done().await;
    done.and(left)
}

async fn run_on(model: &Model, args: TensorArgs, out: &mut Out) -> Result {
    let mut info = None;
    let mut inputs = Vec::new();
    for input in &args.input {
        let tensor = match read(input)? {
            Read::Array(array) => {
                let spec = TensorSpec { name: input.name.clone(), dtype: array.dtype, shape: array.shape };
                Tensor { spec, data: array.data }
            }
            Read::Json(value) => {
                if info.is_none() {
                    info = Some(info_of(model).await?);
                }
                of_json(input, &value, info.as_ref())?
            }
        };
        inputs.push(TensorValue::from(&tensor));
    }
    let RequestOptions { shrink_after, run_options, timeout_ms, keep_alive } = args.request.into();
    let request =
        RunRequest { inputs, outputs: args.output, shrink_after, run_options, timeout_ms, keep_alive };
    let answer = model.run(&request).await?;
    if out.json && args.out.is_none() {
        return out.show(&answer, |_, _| String::new());
    }
    let outputs: Vec<Tensor> =
        answer.outputs.into_iter().map(Tensor::try_from).collect::<std::result::Result<_, _>>()?;
    match &args.out {
        Some(folder) => write_files(&outputs, folder, out),
        None => {
            let named =
                outputs.iter().map(|Tensor { spec, data }| (spec.name.clone(), tensors::to_json(spec, data)));
            out.line(&named.collect::<Map<String, Value>>(), |map| {
                Value::Object(map.clone()).to_string() + "\n"
            })
        }
    }
}

enum Read {
    Array(npy::Array),
    Json(Value),
}

/// A file by its ending, else JSON as typed.
fn read(InputArg { name, source }: &InputArg) -> Result<Read> {
    let path = Path::new(source);
    let wrong = |why: String| -> Error {
        Failure::new(Code::InvalidValue, format!("input '{name}': {why}")).param(name.clone()).into()
    };
    let bytes = || fs::read(path).map_err(|error| storage("read", path, &error));
    let ends = |end: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(end));
    if ends("npy") {
        let array = npy::Array::parse(&bytes()?);
        return Ok(Read::Array(array.map_err(|error| wrong(format!("cannot read '{source}': {error}")))?));
    }
    if ends("json") {
        let value = serde_json::from_slice(&bytes()?);
        return Ok(Read::Json(value.map_err(|error| wrong(format!("cannot read '{source}': {error}")))?));
    }
    let value = serde_json::from_str(source);
    Ok(Read::Json(
        value.map_err(|_| wrong(format!("'{source}' is no .npy file, no .json file and no JSON")))?,
    ))
}

/// JSON does not say of which type its numbers are: the model does.
fn of_json(input: &InputArg, value: &Value, info: Option<&ModelInfo>) -> Result<Tensor> {
    let inputs = info.map_or(&[][..], |info| &info.inputs);
    let name = &input.name;
    let known = inputs.iter().find(|known| known.name == *name).ok_or_else(|| {
        let names: Vec<_> = inputs.iter().map(|input| input.name.as_str()).collect();
        Failure::new(Code::InvalidRequest, format!("the model has no input '{name}'"))
            .hint(format!("its inputs are {}", names.join(", ")))
            .param(name.clone())
    })?;
    let dtype = known.dtype.ok_or_else(|| {
        Failure::new(Code::Unsupported, format!("input '{name}' is not a tensor that can be passed"))
            .param(name.clone())
    })?;
    let (shape, data) = tensors::from_json(value, dtype).map_err(|error| {
        Failure::new(Code::InvalidValue, format!("input '{name}': {error}"))
            .hint(format!(
                "'{name}' takes {} of shape {:?}, -1 being free",
                tensors::name(dtype),
                known.shape
            ))
            .param(name.clone())
    })?;
    Ok(Tensor { spec: TensorSpec { name: name.clone(), dtype, shape }, data })
}

/// What the model takes. It is loaded for that where it is not, with the options it last had.
async fn info_of(model: &Model) -> Result<ModelInfo> {
    let entry = model.info().await?;
    match entry.info {
        Some(info) => Ok(info),
        None => Ok(model.load(&entry.options).await?.info),
    }
}

fn write_files(outputs: &[Tensor], folder: &Path, out: &mut Out) -> Result {
    fs::create_dir_all(folder).map_err(|error| storage("make the folder", folder, &error))?;
    let mut taken = HashSet::new();
    let mut written = Vec::new();
    for Tensor { spec, data } in outputs {
        let path = folder.join(file_name(&spec.name, &mut taken));
        let write = || {
            let mut file = BufWriter::new(tempfile::Builder::new().prefix(".ebb-").tempfile_in(folder)?);
            npy::write(&mut file, spec.dtype, &spec.shape, data)?;
            let file = file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
            file.persist(&path).map_err(|error| error.error)
        };
        write().map_err(|error| storage("write", &path, &error))?;
        written.push((spec.clone(), path));
    }
    let specs: Vec<_> = outputs.iter().map(|tensor| &tensor.spec).collect();
    out.show(&specs, |_, look| render::tensors_written(&written, look))
}

/// A name that is safe in any folder; outputs may be called `encoder/out:0`.
fn file_name(output: &str, taken: &mut HashSet<String>) -> String {
    let safe: String =
        output.chars().map(|c| if c.is_alphanumeric() || "_-.".contains(c) { c } else { '_' }).collect();
    let safe = safe.trim_start_matches('.');
    let base = if safe.is_empty() { "output" } else { safe };
    let mut name = format!("{base}.npy");
    let mut number = 2;
    while !taken.insert(name.to_lowercase()) {
        name = format!("{base}-{number}.npy");
        number += 1;
    }
    name
}

#[cfg(test)]
mod tests {
    use ebb_core::{DType, ModelKind, TensorInfo};
    use serde_json::json;

    use super::*;

    #[test]
    fn outputs_of_any_name_get_files_of_their_own() {
        let mut taken = HashSet::new();
        let names: Vec<_> =
            ["y", "a/b:0", "a_b_0", "../../etc", "", "Y"].map(|name| file_name(name, &mut taken)).into();
        assert_eq!(names, ["y.npy", "a_b_0.npy", "a_b_0-2.npy", "_.._etc.npy", "output.npy", "Y-2.npy"]);
    }

    #[test]
    fn json_takes_the_type_of_the_input() {
        let info = ModelInfo {
            alias: "m".into(),
            kind: ModelKind::Tensors,
            file: "m.onnx".into(),
            provider: "cpu".into(),
            arenas: vec![],
            weights_bytes: 0,
            inputs: vec![TensorInfo { name: "x".into(), dtype: Some(DType::Int16), shape: vec![-1] }],
            outputs: vec![],
            embedding: None,
            chat: None,
            audio: None,
            options: vec![],
            runtime_version: String::new(),
            runtime_library: String::new(),
            load_ms: 0,
        };
        let input = |text: &str| text.parse::<InputArg>().unwrap();
        let tensor = of_json(&input("x=[1]"), &json!([1, 2]), Some(&info)).unwrap();
        assert_eq!((tensor.spec.shape, tensor.data), (vec![2], vec![1, 0, 2, 0]));
        let error = of_json(&input("y=[1]"), &json!([1]), Some(&info)).unwrap_err();
        assert_eq!(error.to_string(), "the model has no input 'y'");
        let error = of_json(&input("x=[1.5]"), &json!([1.5]), Some(&info)).unwrap_err();
        assert_eq!(error.to_string(), "input 'x': 1.5 is not a value of type int16");
    }

    #[test]
    fn what_is_neither_file_nor_json_is_said() {
        let Err(error) = read(&"x=x.txt".parse().unwrap()) else { panic!() };
        assert!(error.to_string().contains("no .npy file"), "{error}");
        assert!(matches!(read(&"x=[[1, 2]]".parse().unwrap()), Ok(Read::Json(_))));
    }
}
