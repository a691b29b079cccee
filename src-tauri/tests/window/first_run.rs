//! The first run: the tour, from an empty list to memory that came back.

use serde_json::json;

use crate::{desk::User, hand::size};

const MIB: u64 = 1 << 20;

#[tokio::test]
async fn whoever_comes_first_sees_memory_taken_and_given_back_in_three_presses() {
    let user = User::with_real_models([]).await;
    let desk = user.opens().await;
    let tour = desk.at("Welcome to Ebb");
    let (_, system) = desk.send("GET", "/ebb/v1/system", "").await;
    tour.says(&format!("of memory free of {}", size(&system["memory"]["total_bytes"]))).await;
    tour.says("all-MiniLM-L6-v2 turns texts into vectors").await;
    assert_eq!(user.home.json(["model", "list"])["models"], json!([]), "nothing is loaded unasked");

    tour.press("Load it").await;
    tour.says("minilm is in memory and holds").await;
    assert_eq!(user.home.json(["server", "status"])["models"], json!(["minilm"]));
    tour.press("Send them").await;
    tour.says("All are answered. It held").await;
    let (_, grown) = desk.send("GET", "/ebb/v1/models/minilm/stats", "").await;
    assert_eq!(grown["now"]["runs"], 8, "{grown}");

    tour.press("Shrink now").await;
    tour.says("It gave back").await;
    let (_, shrunk) = desk.send("GET", "/ebb/v1/models/minilm/stats", "").await;
    // On a busy machine the model rests between requests, and has shrunk by itself before.
    let since = |what: &str| shrunk[what].as_u64().unwrap() - grown[what].as_u64().unwrap();
    assert_eq!(since("shrinks"), 1, "{shrunk}");
    let freed = json!(since("freed_bytes"));
    assert!(since("freed_bytes") > MIB, "{shrunk}");
    let reserved = &grown["now"]["arenas"][0]["reserved_bytes"];
    tour.says(&format!("It gave back {} of {}", size(&freed), size(reserved))).await;

    tour.press("Watch its memory").await;
    tour.goes().await;
    desk.at("Memory of minilm over time").says("Figures as a table").await;
    desk.at("Figures now").says(&format!("Gave back {}", size(&shrunk["freed_bytes"]))).await;
}
