use std::{collections::BTreeMap, fs, path::Path};

use ebb_import::{Error, Options, import};

use crate::scene::{Scene, unheard};

#[test]
fn a_destination_with_contents_is_replaced_only_by_force() {
    let scene = Scene::new();
    scene.write();
    let destination = scene.destination();
    fs::create_dir_all(&destination).unwrap();
    scene.import().expect("an empty folder is as good as none");

    fs::write(destination.join("mine.txt"), "precious").unwrap();
    assert!(matches!(scene.import(), Err(Error::DestinationExists(_))));
    assert!(destination.join("mine.txt").exists());

    let force = Options { force: true };
    let broken = Scene { tensors: BTreeMap::new(), ..Scene::new() };
    broken.write();
    import(&broken.source(), &destination, force, &mut unheard).unwrap_err();
    assert!(destination.join("mine.txt").exists(), "a failed import replaces nothing");

    import(&scene.source(), &destination, force, &mut unheard).unwrap();
    assert!(!destination.join("mine.txt").exists());
    assert!(destination.join("model.onnx").exists());
    assert_eq!(fs::read_dir(destination.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn force_never_deletes_the_source() {
    let scene = Scene::new();
    scene.write();
    let force = Options { force: true };
    for destination in [scene.source(), scene.folder.path().to_owned(), scene.source().join("../source")] {
        let result = import(&scene.source(), &destination, force, &mut unheard);
        assert!(matches!(result, Err(Error::BadDestination { .. })), "{}: {result:?}", destination.display());
    }
    assert!(scene.source().join("model.safetensors").exists());

    let file = scene.source().join("config.json");
    let result = import(&scene.source(), &file, force, &mut unheard);
    assert!(matches!(result, Err(Error::BadDestination { .. })));
}

#[test]
#[cfg(target_os = "linux")]
fn a_place_where_nobody_may_write_is_named() {
    let scene = Scene::new();
    scene.write();
    let result = import(&scene.source(), Path::new("/sys/ebb/model"), Options::default(), &mut unheard);
    let Err(Error::Permission { path, .. }) = result else { panic!("{result:?}") };
    assert_eq!(path, Path::new("/sys/ebb"));
}
