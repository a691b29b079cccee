//! What goes wrong on the way and is overcome, or not.

use std::{fs, sync::Arc};

use ebb_hub::Error;
use tokio::sync::Notify;

use crate::{
    scene::{MODEL, Scene, content},
    server::Fault,
};

#[tokio::test]
async fn a_download_goes_on_where_the_connection_broke() {
    let scene = Scene::new(5000).await;
    // More often than is borne in a row: a try that brought something is no failure.
    for bytes in [1000, 500, 700, 10, 20, 900] {
        scene.server.fault("blobs/onnx/model.onnx", Fault::Cut(bytes));
    }
    let (pulled, waits) = scene.pull(false).await;
    let pulled = pulled.unwrap();
    assert_eq!(scene.model(), content(5000));
    assert_eq!(waits.len(), 6);
    let ranges: Vec<_> = scene.server.asked_for(MODEL).into_iter().map(|seen| seen.range).collect();
    assert_eq!(ranges[0], None);
    assert!(ranges[1..].iter().all(Option::is_some), "{ranges:?}");
    let others: u64 = pulled.files.iter().filter(|file| file.path != MODEL).map(|file| file.bytes).sum();
    assert_eq!(pulled.downloaded_bytes, 5000 + others, "no byte came twice");
}

#[tokio::test]
async fn a_host_that_cannot_send_parts_sends_all_of_it_again() {
    let scene = Scene::new(5000).await;
    scene.server.fault("blobs/onnx/model.onnx", Fault::Cut(1000));
    scene.server.fault("blobs/onnx/model.onnx", Fault::NoRange);
    scene.pull(false).await.0.unwrap();
    assert_eq!(scene.model(), content(5000));
}

#[tokio::test]
async fn what_is_stopped_is_gone_on_with() {
    const BYTES: usize = 4 << 20;
    let scene = Scene::new(BYTES).await;
    scene.server.fault("blobs/onnx/model.onnx", Fault::Stall(3 << 20));
    let came = Arc::new(Notify::new());
    let plan = scene.plan("hf:org/Name").await.unwrap();
    let hub = scene.hub(None);
    let mut progress = |at: ebb_hub::Progress| {
        if at.done_bytes >= 3 << 20 {
            came.notify_one();
        }
    };
    tokio::select! {
        done = hub.pull(&plan, scene.models.path(), false, &mut progress) => panic!("{done:?}"),
        () = came.notified() => {}
    }
    assert!(!scene.folder().exists(), "half a model is none");
    let parts = scene.parts();
    assert_eq!(parts.len(), 1);
    assert!(fs::metadata(&parts[0]).unwrap().len() >= 1 << 20);

    let pulled = scene.pull(false).await.0.unwrap();
    assert!(pulled.downloaded_bytes < BYTES as u64);
    let asked = scene.server.asked_for(MODEL);
    assert!(asked.last().unwrap().range.is_some());
    assert_eq!(scene.model(), content(BYTES));
}

#[tokio::test]
async fn two_do_not_download_the_same_model_at_once() {
    let scene = Scene::new(5000).await;
    scene.server.fault("blobs/onnx/model.onnx", Fault::Stall(10));
    let began = Notify::new();
    let plan = scene.plan("hf:org/Name").await.unwrap();
    let hub = scene.hub(None);
    let mut progress = |_| began.notify_one();
    tokio::select! {
        done = hub.pull(&plan, scene.models.path(), false, &mut progress) => panic!("{done:?}"),
        other = async { began.notified().await; scene.pull(false).await.0 } => {
            assert!(matches!(other, Err(Error::InUse(_))), "{other:?}");
        }
    }
}

#[tokio::test]
async fn content_that_is_wrong_is_refused_and_deleted() {
    let scene = Scene::new(5000).await;
    scene.server.fault("blobs/onnx/model.onnx", Fault::Content(vec![7; 5000]));
    let error = scene.pull(false).await.0.unwrap_err();
    assert!(matches!(&error, Error::WrongContent { file, how: "sha256", .. } if file == MODEL), "{error:?}");
    assert!(!scene.folder().exists());
    assert!(scene.parts().is_empty());
    // A small file is known by the hash of git.
    scene.server.fault("config.json", Fault::Content(b"[]".to_vec()));
    fs::remove_dir_all(scene.models.path()).unwrap();
    let error = scene.pull(false).await.0.unwrap_err();
    assert!(matches!(error, Error::WrongContent { how: "git sha1", .. }), "{error:?}");
    scene.pull(false).await.0.unwrap();
    assert_eq!(scene.model(), content(5000));
}

#[tokio::test]
async fn content_that_does_not_end_is_refused() {
    let scene = Scene::new(5000).await;
    let longer = [content(5000), vec![0; 100]].concat();
    scene.server.fault("blobs/onnx/model.onnx", Fault::Content(longer));
    let error = scene.pull(false).await.0.unwrap_err();
    assert!(matches!(error, Error::WrongContent { how: "bytes", .. }), "{error:?}");
    assert!(scene.parts().is_empty());
}

#[tokio::test]
async fn a_rest_of_something_else_is_thrown_away() {
    let scene = Scene::new(5000).await;
    scene.server.fault("blobs/onnx/model.onnx", Fault::Status(403, vec![]));
    assert!(scene.pull(false).await.0.is_err());
    let parts = scene.parts();
    fs::write(&parts[0], vec![9; 700]).unwrap();
    scene.pull(false).await.0.unwrap();
    assert_eq!(scene.model(), content(5000));
    let asked: Vec<_> = scene.server.asked_for(MODEL).into_iter().map(|seen| seen.range).collect();
    assert_eq!(asked, [None, Some("bytes=700-".to_owned()), None]);
}

#[tokio::test]
async fn a_host_that_is_busy_is_asked_again_when_it_says() {
    let scene = Scene::new(500).await;
    scene.server.fault("blobs/onnx/model.onnx", Fault::Status(429, vec![("retry-after", "0")]));
    scene.server.fault("blobs/onnx/model.onnx", Fault::Status(429, vec![("retry-after", "3600")]));
    scene.server.fault("blobs/onnx/model.onnx", Fault::Status(500, vec![]));
    let (pulled, waits) = scene.pull(false).await;
    pulled.unwrap();
    let waits: Vec<_> = waits.into_iter().map(|(wait_ms, _)| wait_ms).collect();
    assert_eq!(waits, [0, 20, 20], "as asked, but no longer than is borne; then as the third of a row");
}

#[tokio::test]
async fn a_host_that_stays_broken_is_given_up() {
    let scene = Scene::new(500).await;
    for _ in 0..10 {
        scene.server.fault("blobs/onnx/model.onnx", Fault::Status(503, vec![]));
    }
    let (pulled, waits) = scene.pull(false).await;
    assert!(matches!(pulled, Err(Error::Status { status: 503, .. })));
    assert_eq!(waits.iter().map(|(wait_ms, _)| *wait_ms).collect::<Vec<_>>(), [5, 10, 20]);
    assert_eq!(scene.server.asked_for(MODEL).len(), 4);
}
