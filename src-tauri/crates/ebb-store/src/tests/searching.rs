//! What is found, and in which order.

use proptest::prelude::*;

use super::{chunk, filled, near, store, vector, words};
use crate::{Collection, Error, Query};

fn add(collection: &Collection, document: &str, chunks: &[(&str, &str)], at: usize) {
    let length = collection.dimensions() as usize;
    let vectors: Vec<f32> =
        (0..chunks.len()).flat_map(|number| vector(at + number).into_iter().take(length)).collect();
    let chunks: Vec<_> = chunks.iter().map(|(id, text)| chunk(id, text)).collect();
    collection.stage(document, &chunks, &vectors).unwrap();
    collection.commit(document, "f").unwrap();
}

fn found(collection: &Collection, query: &Query) -> Vec<String> {
    let hits = collection.search(query).unwrap();
    assert!(hits.is_sorted_by(|a, b| a.score >= b.score), "{hits:?}");
    hits.into_iter().map(|hit| format!("{}/{}", hit.document, hit.id)).collect()
}

#[test]
fn rare_words_count_more_and_accents_do_not_count() {
    let (_folder, store) = store(1 << 24);
    let collection = store.collection("notes", 3).unwrap();
    add(&collection, "a", &[("0", "the arena keeps the memory"), ("1", "the memory of the elephant")], 0);
    add(&collection, "b", &[("0", "Über die Größe: naïve CAFÉ, the end")], 5);
    assert_eq!(found(&collection, &words("How large is the elephant's memory?")), ["a/1", "a/0", "b/0"]);
    for query in ["uber", "GRÖSSE größe", "naive", "Cafe\u{301}", "cafe"] {
        assert_eq!(found(&collection, &words(query)), ["b/0"], "{query}");
    }
    assert_eq!(found(&collection, &words("giraffe")), [""; 0]);
    assert!(collection.search(&words("elephant")).unwrap()[0].score > 0.0);
}

#[test]
fn scripts_without_spaces_are_found_by_parts_of_their_sentences() {
    let (_folder, store) = store(1 << 24);
    let collection = store.collection("notes", 3).unwrap();
    add(&collection, "zh", &[("0", "东京是日本的首都。"), ("1", "北京是中国的首都。"), ("2", "我喜欢猫")], 0);
    add(&collection, "ja", &[("0", "LINEの使い方を説明します"), ("1", "樹木"), ("2", "木曜日")], 5);
    add(&collection, "ko", &[("0", "서울에서 만나요"), ("1", "부산에는 물이 많다")], 10);
    add(&collection, "th", &[("0", "แมวกินปลาในน้ำ"), ("1", "หมาชอบเดินเล่น")], 15);
    for (query, expected) in [
        ("日本的首都是哪里？", &["zh/0", "zh/1"][..]),
        ("猫", &["zh/2"]),
        ("使い方", &["ja/0"]),
        ("line 説明", &["ja/0"]),
        ("木", &["ja/1", "ja/2"]),
        ("서울", &["ko/0"]),
        ("물", &["ko/1"]),
        ("ปลา", &["th/0"]),
        ("น้ำ", &["th/0"]),
        // The second shares a pair with it, which says little.
        ("เดิน", &["th/1", "th/0"]),
        ("犬", &[]),
    ] {
        let mut hits = found(&collection, &words(query));
        if query == "木" {
            hits.sort();
        }
        assert_eq!(hits, expected, "{query}");
    }
}

#[test]
fn words_do_not_fall_apart_at_their_marks() {
    let (_folder, store) = store(1 << 24);
    let collection = store.collection("notes", 3).unwrap();
    add(&collection, "hi", &[("0", "हिन्दी भाषा"), ("1", "हिसाब किताब")], 0);
    add(&collection, "ar", &[("0", "كِتَاب")], 5);
    assert_eq!(found(&collection, &words("हिन्दी")), ["hi/0"]);
    assert_eq!(found(&collection, &words("किताब")), ["hi/1"]);
    assert_eq!(found(&collection, &words("كِتَاب")), ["ar/0"]);
}

#[test]
fn in_a_large_collection_words_that_most_chunks_have_decide_only_where_there_are_no_others() {
    let (_folder, store) = store(1 << 28);
    let collection = store.collection("large", 1).unwrap();
    let text = |number| match number {
        7_000 => "the arena",
        7_001 => "the the arena of",
        number if number % 2 == 0 => "the of",
        _ => "the",
    };
    let chunks: Vec<_> = (0..45_000).map(|number| chunk(&number.to_string(), text(number))).collect();
    collection.stage("a", &chunks, &vec![1.0; chunks.len()]).unwrap();
    collection.commit("a", "f").unwrap();
    let mut arenas = found(&collection, &words("the arena of giraffes"));
    arenas.sort();
    assert_eq!(arenas, ["a/7000", "a/7001"]);
    // In half of them, and in all: the rarer decides, the commoner has no say.
    assert_eq!(found(&collection, &words("the of"))[..2], ["a/0", "a/2"]);
    assert_eq!(found(&collection, &words("the"))[..2], ["a/1", "a/3"], "the shortest of those that have it");
    assert_eq!(found(&collection, &words("giraffes")), [""; 0]);

    // Among documents that are named, words count that are common elsewhere.
    add(&collection, "b", &[("0", "the of")], 0);
    let within = Query { documents: vec!["b".into()], ..words("the arena") };
    assert_eq!(found(&collection, &within), ["b/0"]);
}

#[test]
fn a_query_has_no_syntax() {
    let (_folder, store) = store(1 << 24);
    let collection = store.collection("notes", 3).unwrap();
    add(&collection, "a", &[("0", "near or not and text")], 0);
    for query in [
        "\"near",
        "near*",
        "text:near",
        "NEAR(near not, 2)",
        "NOT near",
        "^near",
        "near OR",
        "-near",
        "near\0near",
        "'; DROP TABLE words_1; -- near",
        "{near}",
        "near + near",
        "near 🦀",
        "(((near",
        "\u{1f}near",
        "ñear near",
    ] {
        assert_eq!(found(&collection, &words(query)), ["a/0"], "{query:?}");
    }
    for query in ["", " ", "\"", "\"\"", "*", "🦀", "👩‍👩‍👧", "\0", "()", ";", "ⓐ", "\u{301}", "٪"]
    {
        assert_eq!(found(&collection, &words(query)), [""; 0], "{query:?}");
    }
    let long = "x".repeat(1 << 20) + " near";
    assert_eq!(found(&collection, &words(&long)), [""; 0], "a text is looked at only so far");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_text_is_a_syntax_error(texts in prop::collection::vec(any::<String>(), 1..8)) {
        let (_folder, store) = store(1 << 24);
        let collection = store.collection("notes", 3).unwrap();
        for text in &texts {
            add(&collection, "a", &[("0", text)], 0);
            let spaced = format!("{text} zebra");
            add(&collection, "b", &[("0", &spaced)], 0);
            prop_assert!(collection.search(&words(text)).is_ok());
            prop_assert!(found(&collection, &words(&spaced)).contains(&"b/0".to_owned()));
        }
    }
}

#[test]
fn both_rankings_are_fused_by_reciprocal_rank() {
    let (_folder, store) = store(1 << 24);
    let collection = store.collection("notes", 3).unwrap();
    add(&collection, "a", &[("0", "zebra zebra"), ("1", "zebra and other animals"), ("2", "nothing")], 0);
    let query = Query { vector: Some(vector(2)), ..words("zebra") };
    let hits = collection.search(&query).unwrap();
    let scores: Vec<_> = hits.iter().map(|hit| (&*hit.id, hit.score)).collect();
    // By words: 0, 1. By vector: 2, 1, 0.
    let at = |place: f32| 1.0 / (60.0 + place);
    assert_eq!(scores, [("0", at(1.0) + at(3.0)), ("1", at(2.0) + at(2.0)), ("2", at(1.0))]);
    let wordless = Query { text: Some("🦀".into()), ..near(2) };
    assert_eq!(found(&collection, &wordless), ["a/2", "a/1", "a/0"]);
    assert_eq!(found(&collection, &Query { limit: 1, ..query }), ["a/0"]);
}

#[test]
fn a_vectors_score_is_its_cosine() {
    let (_folder, store) = store(1 << 24);
    let collection = filled(&store, 30);
    let hits = collection.search(&Query { limit: 30, ..near(4) }).unwrap();
    assert_eq!(hits.len(), 30);
    assert!((hits[0].score - 1.0).abs() < 1e-6 && hits[0].document == "4");
    let expected = (0.1_f32.cos() + 0.25) / 1.25;
    assert!((hits[1].score - expected).abs() < 1e-6 && (hits[2].score - expected).abs() < 1e-6);
    assert!(hits[29].score < 0.0, "opposite directions have scores below zero");
}

#[test]
fn only_the_documents_that_are_named_are_searched() {
    let (_folder, store) = store(1 << 24);
    let collection = filled(&store, 200);
    for query in [near(5), words("note"), Query { text: Some("note".into()), ..near(5) }] {
        let named = |names: &[&str]| {
            found(
                &collection,
                &Query { documents: names.iter().map(|name| (*name).into()).collect(), ..query.clone() },
            )
        };
        let mut two = named(&["150", "7", "no such one"]);
        two.sort();
        assert_eq!(two, ["150/0", "7/0"]);
        assert_eq!(named(&["no such one"]), [""; 0]);
        assert_eq!(named(&[]).len(), 10);
    }
}

#[test]
fn equals_come_as_they_were_committed_whether_read_anew_or_kept_up_to_date() {
    let (_folder, store) = store(1 << 24);
    let collection = store.collection("notes", 3).unwrap();
    let same = |name: &str| {
        collection
            .stage(name, &[chunk("0", "the same"), chunk("1", "the same")], &[vector(1), vector(1)].concat())
            .unwrap();
        collection.commit(name, "f").unwrap();
    };
    ["c", "a", "d"].into_iter().for_each(same);
    let queries = [near(1), words("same"), Query { text: Some("same".into()), ..near(1) }];
    let all = |expected: &[&str]| {
        for query in &queries {
            assert_eq!(found(&collection, query), expected);
            assert_eq!(found(&collection, &Query { limit: 3, ..query.clone() }), expected[..3]);
        }
    };
    all(&["c/0", "c/1", "a/0", "a/1", "d/0", "d/1"]);
    same("c");
    all(&["a/0", "a/1", "d/0", "d/1", "c/0", "c/1"]);
    store.release_memory();
    all(&["a/0", "a/1", "d/0", "d/1", "c/0", "c/1"]);
}

#[test]
fn queries_that_cannot_be_are_refused_and_limits_hold() {
    let (_folder, store) = store(1 << 24);
    let collection = filled(&store, 3);
    let asked = |query: Query| collection.search(&query).unwrap_err();
    assert!(matches!(asked(Query { limit: 5, ..Query::default() }), Error::EmptyQuery));
    let with = |vector: &[f32]| Query { vector: Some(vector.to_vec()), limit: 5, ..Query::default() };
    assert_eq!(
        asked(with(&[1.0; 2])).to_string(),
        "1 vectors of 3 numbers are needed, which makes 3; 2 were given"
    );
    assert_eq!(asked(with(&[f32::NAN; 3])).to_string(), "vector 0 holds a number that is not finite");
    assert_eq!(asked(with(&[0.0; 3])).to_string(), "vector 0 is zero throughout");
    assert_eq!(found(&collection, &Query { limit: 0, ..near(1) }), [""; 0]);
    assert_eq!(found(&collection, &Query { limit: u32::MAX, ..near(1) }).len(), 3);
}
