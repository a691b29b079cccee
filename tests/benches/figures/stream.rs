//! One stream over HTTP, through server, host and worker, against the same model in this process: tokens a second.

use ebb_api::{Host, Settings};
use ebb_core::{
    LoadOptions, Places,
    operations::{AddModel, GenerateRequest},
};
use ebb_server::{ServeOptions, Server};
use ebb_tests::home;

use crate::{THREADS, inprocess, paired, workload};

const PAIRS: usize = 10;
const TOKENS: u32 = 96;

pub(crate) async fn print() {
    let options =
        LoadOptions { threads: Some(THREADS), prefix_cache_bytes: Some(0), ..LoadOptions::default() };
    let mut here = inprocess::open_chat(options.clone());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let places = Places { home: folder.path().to_owned(), cache: folder.path().join("cache") };
    let settings = Settings {
        worker_program: Some(home::program("ebb-worker")),
        runtime_library: Some(home::runtime_library()),
        ..Settings::default()
    };
    let host = Host::open(places, settings).expect("a host");
    let server = Server::bind(host, ServeOptions { signals: false, ..ServeOptions::default() });
    let server = server.await.expect("it listens");
    let client = ebb_client::Client::at(server.endpoint().clone()).expect("a client");
    let serving = tokio::spawn(server.run());
    let path = home::real_model("smollm2");
    client.add_model(&AddModel { path, alias: Some("smollm2".to_owned()) }).await.expect("it is added");
    let there = client.model("smollm2");
    there.load(&options).await.expect("it loads");

    let (mut here_us, mut there_us) = (Vec::new(), Vec::new());
    for pair in 0..=PAIRS {
        let generation = inprocess::generation(&workload::prose(pair, 20), TOKENS);
        let begun = std::time::Instant::now();
        inprocess::generate(&mut here, generation.clone());
        let took_here = begun.elapsed().as_secs_f64();
        let begun = std::time::Instant::now();
        let request = GenerateRequest { generation, ..GenerateRequest::default() };
        there.generate(request).await.expect("it generates");
        // The first is the warm-up.
        if pair > 0 {
            here_us.push(took_here * 1e6);
            there_us.push(begun.elapsed().as_secs_f64() * 1e6);
        }
    }
    println!(
        "{TOKENS} tokens over HTTP {:.0} ms, in-process {:.0} ms; ratio {}   (at most 1.02)",
        paired::median(&there_us) / 1e3,
        paired::median(&here_us) / 1e3,
        paired::ratio(&there_us, &here_us)
    );
    client.shutdown(Some(0)).await.expect("it ends");
    serving.await.expect("it ends").expect("it ends well");
}
