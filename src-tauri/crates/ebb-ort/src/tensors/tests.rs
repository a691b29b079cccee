use super::*;

fn info(name: &str, dtype: Option<DType>, shape: &[i64]) -> TensorInfo {
    TensorInfo { name: name.to_owned(), dtype, shape: shape.to_vec() }
}

fn spec(name: &str, dtype: DType, shape: &[u64]) -> TensorSpec {
    TensorSpec { name: name.to_owned(), dtype, shape: shape.to_vec() }
}

fn declared() -> Vec<TensorInfo> {
    vec![info("x", Some(DType::Float32), &[-1, 3]), info("scale", Some(DType::Int64), &[])]
}

#[test]
fn inputs_that_fit_pass() {
    for rows in [0, 1, 7] {
        let given = [spec("scale", DType::Int64, &[]), spec("x", DType::Float32, &[rows, 3])];
        check_inputs(&given, &declared()).unwrap();
    }
}

#[test]
fn inputs_that_do_not_fit_are_refused_by_name() {
    let scale = spec("scale", DType::Int64, &[]);
    let x = |dtype, shape: &[u64]| spec("x", dtype, shape);
    for (given, want) in [
        (vec![scale.clone()], "'x' is missing"),
        (vec![spec("y", DType::Float32, &[1, 3])], "no input 'y'"),
        (vec![scale.clone(), scale.clone()], "'scale' is given twice"),
        (vec![x(DType::Float64, &[1, 3])], "'x' is float64, the model takes float32"),
        (vec![x(DType::Float32, &[3])], "'x' has the shape [3], the model takes [?, 3]"),
        (vec![x(DType::Float32, &[1, 4])], "takes [?, 3]"),
        (vec![x(DType::Float32, &[u64::MAX, 3])], "no memory holds"),
        (vec![x(DType::Float32, &[u64::MAX, 0])], "no memory holds"),
    ] {
        let failure: ebb_core::Failure = check_inputs(&given, &declared()).unwrap_err().into();
        assert_eq!(failure.code, ebb_core::Code::InvalidRequest);
        assert!(failure.message.contains(want), "{failure}");
        assert_eq!(failure.hint.as_deref(), Some("the model takes x float32 [?, 3], scale int64 []"));
    }
    let text = [info("words", None, &[-1])];
    let error = check_inputs(&[spec("words", DType::Int64, &[1])], &text).unwrap_err();
    assert!(error.to_string().contains("not a tensor of numbers"), "{error}");
}

#[test]
fn data_must_fill_the_shapes() {
    let inputs = [spec("x", DType::Float32, &[2, 3]), spec("on", DType::Bool, &[2])];
    check_data(&inputs, &Bytes::from_static(&[1; 26])).unwrap();
    for bytes in [0, 25, 27] {
        let error = check_data(&inputs, &vec![0; bytes].into()).unwrap_err().to_string();
        assert!(error.contains("x float32 [2, 3], on bool [2]"), "{error}");
    }
    let error = check_data(&inputs, &vec![2; 26].into()).unwrap_err().to_string();
    assert!(error.contains("'on' is bool"), "{error}");
}

#[test]
fn wanted_outputs_must_be_there() {
    let declared = [info("a", Some(DType::Float32), &[-1]), info("map", None, &[])];
    let check =
        |wanted: &[&str]| check_outputs(wanted.iter().map(|&name| name.to_owned()).collect(), &declared);
    assert_eq!(check(&["a"]).unwrap(), ["a"]);
    assert_eq!(check_outputs(Vec::new(), &declared[..1]).unwrap(), ["a"]);
    for (wanted, want) in [
        (&["b"][..], "no output 'b'"),
        (&["a", "a"], "named twice"),
        (&["map"], "'map' is not a tensor"),
        (&[], "'map' is not a tensor"),
    ] {
        let failure: ebb_core::Failure = check(wanted).unwrap_err().into();
        assert!(failure.message.contains(want), "{failure}");
        assert_eq!(failure.hint.as_deref(), Some("name some of a float32 [?]"));
    }
}
