//! What goes well.

use std::fs;

use ebb_hub::{Checked, Error, Format};

use crate::{
    scene::{MODEL, Scene, content},
    server::COMMIT,
};

#[tokio::test]
async fn a_model_is_listed_chosen_downloaded_and_checked() {
    let scene = Scene::new(5000).await;
    let hub = scene.hub(Some("secret"));
    let plan = hub.plan(&"hf:org/Name".parse().unwrap(), None).await.unwrap();
    assert_eq!((plan.commit.as_str(), plan.format), (COMMIT, Format::Onnx));
    assert!(plan.files.iter().all(|file| file.local != "README.md"));

    let mut last = 0;
    let pulled = hub.pull(&plan, scene.models.path(), false, &mut |at| last = at.done_bytes).await.unwrap();
    assert_eq!(last, plan.total_bytes());
    assert_eq!(pulled.folder, scene.folder());
    assert_eq!(pulled.downloaded_bytes, plan.total_bytes());
    assert_eq!(scene.model(), content(5000));
    assert_eq!(fs::read(scene.folder().join("tokenizer.json")).unwrap(), br#"{"model": {}}"#);
    let checked = |name: &str| pulled.files.iter().find(|file| file.path == name).unwrap().checked;
    assert_eq!(checked(MODEL), Checked::Sha256);
    assert_eq!(checked("config.json"), Checked::GitSha1);

    // The token is for the Hub alone, not for the host that it keeps large files on.
    let seen = scene.server.state().seen.clone();
    assert!(seen.iter().all(|one| one.authorized != one.elsewhere), "{seen:?}");
    assert_eq!(fs::read_dir(scene.models.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[tokio::test]
async fn what_is_here_is_not_downloaded_again() {
    let scene = Scene::new(500).await;
    scene.pull(false).await.0.unwrap();
    let asked = scene.server.asked_for(MODEL).len();
    let again = scene.pull(false).await.0.unwrap();
    assert!(again.already_there);
    assert_eq!(again.downloaded_bytes, 0);
    assert_eq!(scene.server.asked_for(MODEL).len(), asked);
    // A file that was cut since is seen.
    fs::write(scene.folder().join(MODEL), "short").unwrap();
    assert!(matches!(scene.pull(false).await.0, Err(Error::Exists(_))));
    assert!(!scene.pull(true).await.0.unwrap().already_there);
    assert_eq!(scene.model(), content(500));
}

#[tokio::test]
async fn another_folder_is_replaced_only_by_force() {
    let scene = Scene::new(500).await;
    fs::create_dir_all(scene.folder()).unwrap();
    fs::write(scene.folder().join("mine.txt"), "mine").unwrap();
    assert!(matches!(scene.pull(false).await.0, Err(Error::Exists(_))));
    assert!(scene.folder().join("mine.txt").is_file());
    scene.pull(true).await.0.unwrap();
    assert!(!scene.folder().join("mine.txt").exists());
    assert_eq!(scene.model(), content(500));
}

#[tokio::test]
async fn a_variant_has_a_folder_of_its_own() {
    let scene = Scene::new(500).await;
    scene.server.state().files.insert("onnx/model_q4.onnx".to_owned(), content(300));
    let plan = scene.plan("hf:org/Name:Q4").await.unwrap();
    let pulled = scene.hub(None).pull(&plan, scene.models.path(), false, &mut |_| ()).await.unwrap();
    assert_eq!(pulled.folder, scene.models.path().join("org--Name--q4"));
    assert_eq!(fs::read(pulled.folder.join(MODEL)).unwrap(), content(300));
}

#[tokio::test]
async fn a_revision_may_hold_a_slash() {
    let scene = Scene::new(500).await;
    let hub = scene.hub(None);
    let plan = hub.plan(&"hf:org/Name".parse().unwrap(), Some("refs/pr/1")).await.unwrap();
    assert_eq!(plan.commit, COMMIT);
}

#[tokio::test]
async fn an_empty_file_is_a_file() {
    let scene = Scene::new(500).await;
    scene.server.state().files.insert("merges.txt".to_owned(), Vec::new());
    scene.pull(false).await.0.unwrap();
    assert_eq!(fs::read(scene.folder().join("merges.txt")).unwrap(), b"");
}
