//! What is refused before anything is downloaded.

use ebb_core::{Code, Failure};
use ebb_hub::{Error, Missing};
use serde_json::json;

use crate::{scene::Scene, server::Fault};

/// No content of a file was asked for.
fn nothing_came(scene: &Scene) -> bool {
    !scene.server.state().seen.iter().any(|seen| seen.path.contains("/resolve/"))
}

#[tokio::test]
async fn a_model_that_is_not_there_is_told() {
    let scene = Scene::new(500).await;
    let error = scene.plan("hf:org/Other").await.unwrap_err();
    assert!(matches!(&error, Error::NotFound { what: Missing::Repository, .. }), "{error:?}");
    let failure = Failure::from(error);
    assert_eq!(failure.code, Code::NotFound);
    assert!(failure.hint.unwrap().contains("HF_TOKEN"));

    let error = scene.hub(None).plan(&"hf:org/Name".parse().unwrap(), Some("v9")).await.unwrap_err();
    assert!(
        matches!(&error, Error::NotFound { what: Missing::Revision(revision), .. } if revision == "v9"),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_model_that_wants_a_token_says_how_to_give_one() {
    let scene = Scene::new(500).await;
    for (status, headers, code, word) in [
        (401, vec![], Code::Unauthorized, "HF_TOKEN"),
        (401, vec![("x-error-code", "GatedRepo")], Code::Forbidden, "HF_TOKEN"),
        (403, vec![("x-error-code", "GatedRepo")], Code::Forbidden, "accept"),
        (404, vec![], Code::NotFound, "HF_TOKEN"),
    ] {
        scene.server.fault("/revision/main", Fault::Status(status, headers));
        let failure = Failure::from(scene.plan("hf:org/Name").await.unwrap_err());
        assert_eq!(failure.code, code, "{status}");
        assert!(failure.hint.as_deref().unwrap().contains(word), "{failure:?}");
    }
    scene.server.fault("/revision/main", Fault::Status(401, vec![]));
    let error = scene.hub(Some("wrong")).plan(&"hf:org/Name".parse().unwrap(), None).await.unwrap_err();
    assert!(matches!(error, Error::Unauthorized { with_token: true, .. }));
    assert!(!Failure::from(error).message.contains("wrong"));
}

#[tokio::test]
async fn a_name_that_leaves_the_models_folder_is_refused() {
    for path in ["onnx/../../evil.onnx", "/etc/evil.onnx", "..\\evil.onnx", "C:evil.json"] {
        let scene = Scene::new(500).await;
        let entry = json!({"type": "file", "path": path, "size": 5, "oid": "a".repeat(40)});
        scene.server.state().lies.insert(path.to_owned(), entry);
        let error = scene.plan("hf:org/Name").await.unwrap_err();
        assert!(matches!(&error, Error::UnsafePath(found) if found == path), "{error:?}");
        assert!(nothing_came(&scene));
    }
}

#[tokio::test]
async fn sizes_that_no_disk_holds_are_refused() {
    for bytes in [1_u64 << 60, u64::MAX] {
        let scene = Scene::new(500).await;
        for name in ["onnx/model.onnx", "onnx/model.onnx_data"] {
            let lfs = json!({"oid": "b".repeat(64), "size": bytes});
            let entry =
                json!({"type": "file", "path": name, "size": bytes, "oid": "a".repeat(40), "lfs": lfs});
            scene.server.state().lies.insert(name.to_owned(), entry);
        }
        let error = scene.pull(false).await.0.unwrap_err();
        let Error::NoSpace { needed_bytes, free_bytes, .. } = error else { panic!("{error:?}") };
        assert!(needed_bytes > free_bytes);
        assert!(nothing_came(&scene));
    }
}

#[tokio::test]
async fn weights_that_cannot_be_imported_are_not_downloaded() {
    let scene = Scene::new(500).await;
    {
        let files = &mut scene.server.state().files;
        files.remove("onnx/model.onnx");
        files.insert("model.safetensors".to_owned(), vec![1; 300]);
        files.insert("config.json".to_owned(), br#"{"model_type": "qwen3"}"#.to_vec());
    }
    let error = scene.plan("hf:org/Name").await.unwrap_err();
    assert!(matches!(&error, Error::NoModel { reason, .. } if reason.contains("qwen3")), "{error:?}");
    let config = br#"{"model_type": "bert"}"#.to_vec();
    scene.server.state().files.insert("config.json".to_owned(), config);
    assert!(scene.plan("hf:org/Name").await.is_ok());
}

#[tokio::test]
async fn answers_that_are_nonsense_are_told() {
    let scene = Scene::new(500).await;
    for (path, fault) in [
        // Neither JSON nor of the right form.
        ("/revision/main", Fault::Status(200, vec![])),
        // Sent on for ever, to nowhere, and to where nothing may be asked.
        ("/revision/main", Fault::Status(302, vec![])),
        ("/revision/main", Fault::Status(302, vec![("location", "file:///etc/passwd")])),
    ] {
        scene.server.fault(path, fault);
        let error = scene.plan("hf:org/Name").await.unwrap_err();
        assert!(matches!(error, Error::Protocol(_)), "{error:?}");
    }
    for _ in 0..20 {
        let round = Fault::Status(302, vec![("location", "/api/models/org/Name/revision/main")]);
        scene.server.fault("/revision/main", round);
    }
    assert!(matches!(scene.plan("hf:org/Name").await, Err(Error::Protocol(_))));
}

#[tokio::test]
async fn a_hub_that_is_not_there_is_told() {
    let scene = Scene::new(500).await;
    // A port that was just given back.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let settings = ebb_hub::Settings::at(&format!("http://{free}")).unwrap();
    let patience = ebb_hub::Patience { failures: 0, ..settings.patience };
    let hub = ebb_hub::Hub::new(ebb_hub::Settings { patience, ..settings });
    let error = hub.plan(&"hf:org/Name".parse().unwrap(), None).await.unwrap_err();
    assert!(matches!(error, Error::Connection { .. }), "{error:?}");
    assert!(error.to_string().contains("127.0.0.1"), "{error}");
    assert!(nothing_came(&scene));
}
