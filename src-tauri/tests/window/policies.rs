//! A policy on a model: allowed, set, attached, and seen to decide.

use ebb_tests::plugins::shipped;
use serde_json::{Value, json};

use crate::{desk::User, hand::size};

/// What the policy said of the figures that it decided on, in its own log.
fn said(user: &User) -> (Value, Value) {
    let log = user.home.json(["plugin", "logs", "slack"]).to_string();
    let (before, _) = log.split_once(" in use: shrink").unwrap_or_else(|| panic!("no decision in {log}"));
    let (reserved, in_use) = before.rsplit_once(" bytes reserved, ").expect("what is reserved");
    let reserved = reserved.rsplit(|letter: char| !letter.is_ascii_digit()).next().expect("a number");
    let number = |text: &str| json!(text.parse::<u64>().expect("a number"));
    (number(in_use), number(reserved))
}

#[tokio::test]
async fn a_policy_is_allowed_attached_and_decides_in_sight() {
    let user = User::with_real_models(["minilm"]).await;
    let shipped = shipped();
    let desk = user.opens_with(&[("EBB_PLUGINS", shipped.to_str().expect("a path"))]).await;
    desk.loads("minilm").await;

    desk.goes_to('4').await;
    desk.at("All plugins").follow("Slack").await;
    let (pages, view) = (desk.at("Pages of Slack"), desk.view());
    pages.follow("Permissions").await;
    view.press("Allow…").await;
    let consent = desk.at("What may Slack do?");
    consent.says("memory.control").await;
    consent.says("to give back what a model has reserved and does not use").await;
    consent.tick("Allow memory.control").await;
    consent.press("Allow 1 permission").await;
    consent.says("Choose at least one model, or every model.").await;
    consent.tick("minilm").await;
    consent.press("Allow 1 permission").await;
    consent.goes().await;
    desk.at("What it asked for, what you granted, what it really used").says("minilm").await;
    let info = user.home.json(["plugin", "info", "slack"]);
    assert_eq!(info["capabilities"][0]["granted"]["models"], json!(["minilm"]), "{info}");

    pages.follow("Settings").await;
    for (setting, value) in [("Ratio", "1"), ("Slack in MiB", "0"), ("Requests between shrinks", "1")] {
        view.write(setting, value).await;
    }
    view.press("Save settings").await;
    desk.at_notices().says("Settings saved.").await;
    pages.follow("Models").await;
    view.press("Let it decide").await;
    desk.at("Policies of minilm").says("decides now").await;

    desk.goes_to('3').await;
    desk.at("What to try").follow("Embeddings").await;
    view.press("Use an example").await;
    view.press("Compare").await;
    view.says("vectors of 384 numbers").await;

    desk.goes_to('2').await;
    let policies = desk.at("Policies");
    policies.says("slack: shrink now").await;
    let (in_use, reserved) = said(&user);
    policies.says(&format!("saw {} in use of {} reserved", size(&in_use), size(&reserved))).await;
    let info = user.home.json(["plugin", "info", "slack"]);
    assert_eq!(info["attachments"][0]["decisions"], 1, "{info}");
    let (_, stats) = desk.send("GET", "/ebb/v1/models/minilm/stats", "").await;
    assert_eq!(stats["shrinks"], 1, "{stats}");

    policies.press("Detach Slack").await;
    policies.says("No plugin decides for this model.").await;
    assert_eq!(user.home.json(["plugin", "info", "slack"])["attachments"], json!([]));
}
