//! A worker that is killed while somebody looks at its memory.

use rustix::process::{Signal, kill_process};
use serde_json::json;

use crate::desk::{User, until, worker_of};

#[tokio::test]
async fn a_crash_is_seen_as_it_happens_and_the_model_is_loaded_from_there() {
    let user = User::with_real_models(["minilm"]).await;
    let desk = user.opens().await;
    desk.loads("minilm").await;
    let view = desk.view();
    view.follow("Memory of minilm over time").await;
    desk.at("Figures now").says("Since it was loaded").await;
    view.unfold("Figures as a table").await;

    let app = user.host().await;
    let killed = until("there is a worker", || worker_of(&app)).await;
    kill_process(killed, Signal::KILL).expect("it can be killed");
    view.says("Its worker ended by itself at").await;
    view.says("It stays down until you load it again.").await;
    desk.at("Memory of minilm over time").says("worker ended:").await;
    let (_, model) = desk.send("GET", "/ebb/v1/models/minilm", "").await;
    assert_eq!(model["state"], "failed", "{model}");
    view.says(model["reason"].as_str().expect("a reason")).await;

    view.press("Load again").await;
    desk.at("Figures now").says("Since it was loaded").await;
    let text = view.text().await.expect("the view");
    assert!(!text.contains("It stays down"), "{text}");
    assert_eq!(user.home.json(["server", "status"])["models"], json!(["minilm"]));
    let now = until("there is a worker again", || worker_of(&app)).await;
    assert_ne!(now, killed);
    desk.goes_to('1').await;
    desk.view().says("In memory").await;
}
