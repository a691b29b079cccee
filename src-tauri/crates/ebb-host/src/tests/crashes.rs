//! Requests and looks that come right after a worker has ended by itself, before anybody was told.

use super::*;

#[tokio::test]
async fn a_request_right_after_a_crash_waits_for_the_restart() {
    let scene = Scene::new();
    let model = scene.load(LoadOptions { restart: Some(true), ..LoadOptions::default() }, Vec::new()).await;
    for started in 2..10 {
        scene.threads.cut();
        // Some of them find the pipe cut, others that nothing more comes out of it.
        for _ in 2..started {
            tokio::task::yield_now().await;
        }
        assert_eq!(embed(&model, &["x"]).await.unwrap(), 1);
        assert_eq!(scene.threads.started.load(Ordering::Relaxed), started);
    }
}

#[tokio::test]
async fn a_request_right_after_a_crash_is_refused_once_it_is_known_that_the_worker_stays_down() {
    let scene = Scene::new();
    let model = scene.load(LoadOptions::default(), Vec::new()).await;
    scene.threads.cut();
    assert_eq!(embed(&model, &["x"]).await.unwrap_err().code, Code::WorkerCrashed);
    assert_eq!(model.state(), ModelState::Failed);
}

#[tokio::test]
async fn a_model_whose_worker_has_ended_holds_nothing() {
    let scene = Scene::new();
    let model = scene.load(LoadOptions::default(), Vec::new()).await;
    embed(&model, &["sixsix"]).await.unwrap();
    assert_eq!(model.newest().map(|sample| sample.model), Some("m".to_owned()));
    scene.threads.cut();
    model.settled().await;
    assert_eq!(embed(&model, &["x"]).await.unwrap_err().code, Code::WorkerCrashed);
    assert_eq!((model.newest(), model.pid()), (None, None));
}

#[tokio::test]
async fn the_figures_tell_what_is_armed() {
    let scene = Scene::new();
    let model = scene.load(LoadOptions::default(), Vec::new()).await;
    embed(&model, &["a"]).await.unwrap();
    assert_eq!(model.stats().await.unwrap().shrink_after_run, None);
    let run = model.shrink_after_next_run(None).await.unwrap();
    assert_eq!((run, model.stats().await.unwrap().shrink_after_run), (2, Some(2)));
    embed(&model, &["a"]).await.unwrap();
    assert_eq!(model.stats().await.unwrap().shrink_after_run, None);
}
